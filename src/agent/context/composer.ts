import type { EventOf, NewEvent } from '../../../ledger/event.ts'
import type { LedgerReader } from '../../../ledger/reader.ts'
import type { SignalRow } from '../../../projections/signals.ts'
import type { Recall } from '../../lib/recall.ts'
import { type ChatModel, type InputItem, innerLabels, type TextRequest } from '../../model/port.ts'
import { estimateTokens } from '../../model/tokens.ts'
import type { Tool } from '../../model/tool.ts'
import type { TurnToRun } from '../turn/turn-facts.ts'
import type { Chain, ChainReader } from './chain.ts'
import type { ContextItem } from './context.ts'
import { type Cue, createCues } from './cue.ts'
import { cutText } from './cut.ts'
import { fitHistory, fitRound, fitStanding, historyRoom, tooLongText } from './fit.ts'
import { type Adaptation, buildInstructions, type SpokenChannel } from './instructions.ts'
import { type Profile, profileOf } from './profile.ts'
import { batchText, readSignals } from './signals-text.ts'

/** The content of `turn.started`, known before the context is gathered. */
export type Opening = { readonly adaptationIds: readonly string[]; readonly signalIds: readonly string[] }

export type Composed = {
  readonly request: Pick<TextRequest, 'instructions' | 'tools' | 'timezone' | 'isHalted'>
  readonly input: readonly InputItem[]
  /** The request of a round within a known context, with the calls and results so far. */
  fit?(tail: readonly InputItem[]): Omit<TextRequest, 'now' | 'use'>
  /** The answer to a message that is too long for the model; null if it fits. */
  readonly tooLong?: string | null
  /** What of the context does not fit. */
  readonly leftOut?: LeftOut
  /** The input without foreign words: a foreign reply becomes “(answered)”, a pasted part a note of its length. */
  readonly ownWords: readonly InputItem[]
  /** Whether `ownWords` has no foreign words of what triggers the turn. */
  readonly isCueOwn: boolean
  /** The facts with foreign words in the input. */
  readonly foreignSeqs: readonly number[]
  readonly facts: readonly NewEvent[]
  /** Recorded once the turn succeeds: the chain can be continued from its replacement. */
  readonly proven: readonly NewEvent[]
  /** Facts outside the chain that the model is given in this turn. */
  readonly seenSeqs: readonly number[]
  /** The form of the replacement at the start of the input; null if there is none. */
  readonly baseForm: 'opaque' | 'text' | null
  readonly past: readonly ContextItem[]
}

export type LeftOut = NonNullable<EventOf<'turn.completed'>['facts']['leftOut']>

export type Composer = {
  /** Null if the message of the turn was erased. */
  compose(turn: TurnToRun, model: ChatModel, options: { readonly textOnly: boolean }): Composing | null
}

export type Composing = {
  readonly opening: Opening
  gather(): Promise<Composed>
}

/** Composes the input of a turn: the chain, recalled memories, attached signals and the cue. */
export function createComposer(options: {
  readonly ledger: LedgerReader
  readonly chain: ChainReader
  readonly recall: Recall
  readonly ridingSignals: () => readonly SignalRow[]
  readonly adaptations: (channel: SpokenChannel) => readonly Adaptation[]
  /** The events that hold the text of the adaptations. */
  readonly adaptationSeqs: (channel: SpokenChannel) => readonly number[]
  readonly tools: ReadonlyMap<string, Tool>
  readonly foreignAmong: (seqs: readonly number[]) => readonly number[]
  /** While halted, only tools that act on nothing are offered. */
  readonly isHalted: () => boolean
  readonly timezone: () => string
}): Composer {
  const { ledger, chain, tools } = options
  const cues = createCues(options)

  return {
    compose(turn, model, { textOnly }) {
      const cue = cues.of(turn)
      const { turnId, conversationId, spanId } = turn
      if (!cue || conversationId === null) return null
      const channel: SpokenChannel =
        turn.channel === 'voice' || turn.channel === 'sms' ? turn.channel : 'chat'
      const isActivation = turn.trigger === 'activation'
      const riding = isActivation ? [] : options.ridingSignals()
      const signalIds = riding.map((row) => row.signalId)
      const profile = profileOf(model.context?.tokens ?? null)
      const all = options.adaptations(channel)
      const adaptations = profile ? fitStanding(all, profile.standingTokens) : all

      async function gather(cue: Cue, conversationId: string): Promise<Composed> {
        const past = await chain.read(conversationId, model.text.id, {
          // A service that makes no opaque replacements reads none, whatever it made before.
          textOnly: textOnly || model.compaction === null,
        })
        const recalled = await options.recall({
          text: cue.text,
          turnId,
          conversationId,
          spanId,
          channel: isActivation ? 'inner' : channel,
          beforeSeq: turn.causeSeq,
          inContextSeqs: past.items.flatMap(({ seqs }) => seqs),
        })
        const ridingSignals = readSignals(
          ledger,
          riding.map((row) => row.seq),
        )
        const isHalted = options.isHalted()
        const offered = [...tools.values()].filter(({ readOnly }) => readOnly || !isHalted)
        const short = (text: string) => (profile ? cutText(text, profile.standingTokens) : text)
        const added: InputItem[] = []
        if (recalled.text !== null)
          added.push({ type: 'inner', label: innerLabels.memories, text: short(recalled.text) })
        if (ridingSignals.length > 0)
          added.push({
            type: 'inner',
            label: 'signals',
            text: short(batchText(ridingSignals, options.timezone())),
          })
        added.push(cue.item.type === 'inner' ? { ...cue.item, text: short(cue.item.text) } : cue.item)
        const { isShort } = profile ?? {}
        const instructions = buildInstructions({ channel, adaptations, isActivation, isHalted, isShort })
        const request = { instructions, tools: offered, isHalted, timezone: options.timezone() }
        const limited = profile && { request, profile, model: model.text }
        const room = limited ? historyRoom(limited, added) : 0
        const items = limited ? fitHistory(past.items, room, limited.profile) : past.items
        const input = [...items.map(({ item }) => item), ...added]
        return {
          request,
          input,
          ...(limited
            ? {
                fit: (tail) => fitRound(limited, input, tail),
                tooLong: room < 0 ? tooLongText(estimateTokens(cue.text), -room) : null,
                leftOut: leftOutOf(past.items, items, all.length - adaptations.length, limited.profile),
              }
            : {}),
          // A failed request gives no authority, or foreign words could have it carried out later.
          ownWords: [...items.filter((each) => !each.isOfFailed).flatMap(withoutForeign), cue.own],
          isCueOwn: cue.isOwn,
          foreignSeqs: [
            ...items.flatMap(({ foreign, seqs }) =>
              foreign && !(isActivation && cues.remind(seqs)) ? seqs : [],
            ),
            ...(recalled.text === null ? [] : options.foreignAmong(recalled.seqs)),
            ...options.foreignAmong(ridingSignals.map(({ seq }) => seq)),
            ...cue.foreignSeqs,
          ],
          facts: recalled.facts,
          proven: past.base && past.base.row.consumed === 0 ? [consumed(turn, past.base)] : [],
          seenSeqs: [
            ...cue.seqs,
            ...recalled.seqs,
            ...ridingSignals.map(({ seq }) => seq),
            ...options.adaptationSeqs(channel),
          ],
          past: items,
          baseForm: past.base?.form ?? null,
        }
      }

      return {
        opening: { adaptationIds: adaptations.map(({ id }) => id), signalIds },
        gather: () => gather(cue, conversationId),
      }
    },
  }
}

function leftOutOf(
  past: readonly ContextItem[],
  kept: readonly ContextItem[],
  instructions: number,
  { contextTokens }: Profile,
): LeftOut {
  const messagesIn = (items: readonly ContextItem[]) =>
    items.filter(({ item }) => item.type === 'message').length
  const whole = new Set(past)
  const shortened = kept.filter((each) => each.seqs.length > 0 && !whole.has(each)).length
  return { contextTokens, messages: messagesIn(past) - messagesIn(kept), instructions, shortened }
}

/** Keeps a placeholder for a foreign reply, so that an older request does not look unanswered. */
function withoutForeign({ item, foreign, own }: ContextItem): InputItem[] {
  if (own) return [own]
  if (!foreign) return [item]
  return item.type === 'message' && item.role === 'delegate' ? [{ ...item, text: '(answered)' }] : []
}

/** The first successful turn on a replacement proves that the chain can be continued from it. */
function consumed(turn: TurnToRun, base: NonNullable<Chain['base']>): NewEvent {
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
