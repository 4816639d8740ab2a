import type { AnyEvent, LedgerReader } from '../../../ledger/reader.ts'
import { causeOfTimer } from '../../lib/cause-of-timer.ts'
import type { InputItem } from '../../model/port.ts'
import { typedWords } from '../../text/pasted.ts'
import { textWithMedia } from '../turn/sms-text.ts'
import type { TurnToRun } from '../turn/turn-facts.ts'
import { batchText, readSignals } from './signals-text.ts'

/** What triggers a turn: a message of the owner, or signals, which nobody said. */
export type Cue = {
  readonly text: string
  readonly item: InputItem
  /** The item without foreign words, where `isOwn`. */
  readonly own: InputItem
  /** Whether there is such an item. Otherwise `own` may have foreign words. */
  readonly isOwn: boolean
  /** The signals. */
  readonly seqs: readonly number[]
  readonly foreignSeqs: readonly number[]
}

/** Reads the cue of a turn, and which of its words are the owner's. */
export function createCues(options: {
  readonly ledger: LedgerReader
  readonly foreignAmong: (seqs: readonly number[]) => readonly number[]
  readonly timezone: () => string
}) {
  const { ledger } = options

  /** Whether it reminds of what the owner entered on the page, or by its API, and did not paste. */
  function isOfOwner({ derivedFrom }: { readonly derivedFrom: readonly number[] }): boolean {
    return derivedFrom.length > 0 && ledger.readSeqs(derivedFrom).every(isEnteredByOwner)
  }

  /** A changed or snoozed timer keeps words of the one before, so that must be the owner's, too. */
  function isEnteredByOwner(event: AnyEvent): boolean {
    if (event.type !== 'timer.set' && event.type !== 'timer.changed') return false
    if (event.facts.by !== 'owner' || event.facts.pasted === true) return false
    return ledger.readSeqs(event.derivedFrom).every(isEnteredByOwner)
  }

  /** Stands in for a timer that foreign words may have shaped: what the owner typed to ask for it. Null if nothing. */
  function askedFor({ derivedFrom }: { readonly derivedFrom: readonly number[] }): string | null {
    const [seq] = derivedFrom
    const message = seq === undefined ? undefined : causeOfTimer(ledger, seq)
    if (message?.type !== 'chat.message.received' || message.facts.spoken === true || !message.body)
      return null
    return `a timer is due that the owner asked for: “${typedWords(message)}”`
  }

  function of(turn: TurnToRun): Cue | null {
    const [cause] = ledger.readSeqs([turn.causeSeq])
    if (cause?.type === 'activation.started') {
      const signals = readSignals(ledger, cause.derivedFrom)
      const text = batchText(signals, options.timezone())
      const seqs = signals.map(({ seq }) => seq)
      const raised = ledger.readSeqs(seqs).filter((event) => !isOfOwner(event))
      const foreignSeqs = options.foreignAmong(raised.map(({ seq }) => seq))
      const foreign = raised.filter(({ seq }) => foreignSeqs.includes(seq))
      const asked = new Map(foreign.map((event) => [event.seq, askedFor(event)]))
      const own = signals.map((signal) => ({ ...signal, text: asked.get(signal.seq) ?? signal.text }))
      const item = { type: 'inner', label: 'signals', text } as const
      return {
        text,
        item,
        own: { ...item, text: batchText(own, options.timezone()) },
        isOwn: ![...asked.values()].includes(null),
        seqs,
        foreignSeqs,
      }
    }
    if (cause?.type !== 'chat.message.received' && cause?.type !== 'sms.received') return null
    if (!cause.body) return null
    const text = cause.type === 'sms.received' ? textWithMedia(cause) : cause.body.text
    const item = { type: 'message', role: 'owner', text, at: cause.at } as const
    const own = { ...item, text: cause.type === 'sms.received' ? text : typedWords(cause) }
    const foreignSeqs = options.foreignAmong([cause.seq])
    return { text, item, own, isOwn: foreignSeqs.length === 0, seqs: [], foreignSeqs }
  }

  return {
    /** Null if the message of the turn was erased. */
    of,
    /** Whether all of these facts only remind of what the owner entered. */
    remind: (seqs: readonly number[]) => seqs.length > 0 && ledger.readSeqs(seqs).every(isOfOwner),
  }
}
