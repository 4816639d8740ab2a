import type { NewEvent } from '../../ledger/event.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import type { SignalRow } from '../../projections/signals.ts'
import type { TurnRow } from '../../projections/turns.ts'
import type { Recall } from '../conversation/recall.ts'
import type { InputItem, ModelService, TextRequest } from '../model/port.ts'
import type { Tool } from '../tools/tool.ts'
import type { Chain, ChainReader } from './chain.ts'
import type { ContextItem } from './context.ts'
import { type Adaptation, buildInstructions, type SpokenChannel } from './instructions.ts'
import { batchText, readSignals } from './signals-text.ts'
import { textWithMedia } from './sms-text.ts'

/** What the fact of a turn's start names; known before anything is gathered. */
export type Opening = { readonly adaptationIds: readonly string[]; readonly signalIds: readonly string[] }

export type Composed = {
  readonly request: Pick<TextRequest, 'instructions' | 'tools' | 'timezone'>
  readonly input: readonly InputItem[]
  /** The same without any words that may be of others; in the place of a reply that had some it says “(answered)”. */
  readonly ownWords: readonly InputItem[]
  /** Whether those are less than the input. */
  readonly isForeign: boolean
  /** Recorded after the start of the turn: what was recalled. */
  readonly facts: readonly NewEvent[]
  /** Recorded once the turn has succeeded: that the chain can be continued from its replacement. */
  readonly proven: readonly NewEvent[]
  /** Facts, beside the conversation itself, whose words the model is given for this turn. */
  readonly seenSeqs: readonly number[]
  /** Which form of the replacement the input begins with; null while there is none. */
  readonly baseForm: 'opaque' | 'text' | null
  /** The conversation before, as the model is given it. */
  readonly past: readonly ContextItem[]
}

export type Composer = {
  /** Begins to gather what a turn is answered from. Null when its message was erased meanwhile. */
  compose(turn: TurnRow, service: ModelService, options: { readonly textOnly: boolean }): Composing | null
}

export type Composing = {
  readonly opening: Opening
  /** Everything that the model is given for the turn. */
  readonly composed: Promise<Composed>
}

/** What sets a turn off: words of the owner, or signals, which are nobody's words. */
type Cue = {
  readonly text: string
  readonly item: InputItem
  readonly seqs: readonly number[]
  readonly foreign: boolean
}

/**
 * Puts together what the model is asked in a turn: the chain, what recall brings up, signals that ride along,
 * the cue.
 */
export function createComposer(options: {
  readonly ledger: LedgerReader
  readonly chain: ChainReader
  readonly recall: Recall
  readonly ridingSignals: () => readonly SignalRow[]
  readonly adaptations: (channel: SpokenChannel) => readonly Adaptation[]
  /** The events that hold the words of those. */
  readonly adaptationSeqs: (channel: SpokenChannel) => readonly number[]
  readonly tools: ReadonlyMap<string, Tool>
  readonly areForeign: (seqs: readonly number[]) => boolean
  readonly timezone: () => string
}): Composer {
  const { ledger, chain, tools } = options

  function cueOf(turn: TurnRow): Cue | null {
    const [cause] = ledger.readSeqs([turn.causeSeq])
    if (cause?.type === 'activation.started') {
      const signals = readSignals(ledger, cause.derivedFrom)
      const text = batchText(signals)
      const seqs = signals.map(({ seq }) => seq)
      return {
        text,
        item: { type: 'inner', label: 'signals', text },
        seqs,
        foreign: options.areForeign(seqs),
      }
    }
    if (cause?.type !== 'chat.message.received' && cause?.type !== 'sms.received') return null
    if (!cause.body) return null
    const text = cause.type === 'sms.received' ? textWithMedia(cause) : cause.body.text
    const foreign = options.areForeign([cause.seq])
    return { text, item: { type: 'message', role: 'owner', text, at: cause.at }, seqs: [], foreign }
  }

  async function readPast(
    { conversationId }: TurnRow,
    service: ModelService,
    textOnly: boolean,
  ): Promise<Chain> {
    return conversationId === null
      ? { items: [], input: [], seqs: [], base: null, openSeqs: [], barred: new Set() }
      : chain.read(conversationId, service.text.id, { textOnly })
  }

  return {
    compose(turn, service, { textOnly }) {
      const cue = cueOf(turn)
      if (!cue) return null
      const { turnId, conversationId, spanId } = turn
      const channel: SpokenChannel =
        turn.channel === 'voice' || turn.channel === 'sms' ? turn.channel : 'chat'
      const isActivation = turn.trigger === 'activation'
      const riding = isActivation ? [] : options.ridingSignals()
      const signalIds = riding.map((row) => row.signalId)
      const adaptations = options.adaptations(channel)

      async function gather(cue: Cue): Promise<Composed> {
        const reading = readPast(turn, service, textOnly)
        const recalling = options.recall({
          text: cue.text,
          turnId,
          conversationId,
          spanId,
          channel: isActivation ? 'inner' : channel,
          beforeSeq: turn.causeSeq,
          inContextSeqs: reading.then(({ seqs }) => seqs),
        })
        const past = await reading
        const recalled = await recalling
        const ridingSignals = readSignals(
          ledger,
          riding.map((row) => row.seq),
        )
        const added: InputItem[] = []
        const own = past.items.flatMap(ownOf)
        const isRecalledForeign = recalled.text !== null && options.areForeign(recalled.seqs)
        if (recalled.text !== null)
          added.push({ type: 'inner', label: 'memories that may matter', text: recalled.text })
        if (ridingSignals.length > 0)
          added.push({ type: 'inner', label: 'signals', text: batchText(ridingSignals) })
        added.push(cue.item)
        return {
          request: {
            instructions: buildInstructions({ channel, adaptations, isActivation }),
            tools: [...tools.values()],
            timezone: options.timezone(),
          },
          input: past.input.concat(added),
          ownWords: [...own, cue.item],
          isForeign:
            cue.foreign ||
            isRecalledForeign ||
            options.areForeign(ridingSignals.map(({ seq }) => seq)) ||
            past.items.some(({ foreign }) => foreign),
          facts: recalled.facts,
          proven: past.base && past.base.row.consumed === 0 ? [consumed(turn, past.base)] : [],
          seenSeqs: [
            ...cue.seqs,
            ...recalled.seqs,
            ...ridingSignals.map(({ seq }) => seq),
            ...options.adaptationSeqs(channel),
          ],
          past: past.items,
          baseForm: past.base?.form ?? null,
        }
      }

      return {
        opening: { adaptationIds: adaptations.map(({ id }) => id), signalIds },
        composed: gather(cue),
      }
    },
  }
}

/** Of a foreign reply one thing stays: that it was given, so that older wishes are not taken for open ones. */
function ownOf({ item, foreign }: ContextItem): InputItem[] {
  if (!foreign) return [item]
  return item.type === 'message' && item.role === 'delegate' ? [{ ...item, text: '(answered)' }] : []
}

/** The first turn that succeeds on a replacement proves that the chain can be continued from it. */
function consumed(turn: TurnRow, base: NonNullable<Chain['base']>): NewEvent {
  const { conversationId, spanId, turnId } = turn
  return {
    type: 'context.replacement.consumed',
    actor: 'service',
    channel: 'inner',
    conversationId,
    spanId,
    turnId,
    causedBy: base.row.seq,
    facts: { compactionId: base.row.compactionId, form: base.form },
  }
}
