import type { NewEvent } from '../../ledger/event.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import type { TurnRow } from '../../projections/turns.ts'
import type { InputItem, ModelService, TextRequest } from '../model/port.ts'
import type { Tool } from '../tools/tool.ts'
import type { Chain, ChainReader } from './chain.ts'
import { type Adaptation, buildInstructions, type SpokenChannel } from './instructions.ts'

export type Composed = {
  readonly request: Pick<TextRequest, 'instructions' | 'tools' | 'timezone'>
  readonly input: readonly InputItem[]
  /** Recorded with the start of the turn: what was recalled, which signals it took. */
  readonly facts: readonly NewEvent[]
  readonly adaptationIds: readonly string[]
  readonly signalIds: readonly string[]
  /** Facts, beside the conversation itself, whose words the model is given for this turn. */
  readonly seenSeqs: readonly number[]
  /** Which form of the replacement the input begins with; null while there is none. */
  readonly baseForm: 'opaque' | 'text' | null
}

export type Composer = {
  /** Everything that the model is given for a turn; null when its message was erased meanwhile. */
  compose(
    turn: TurnRow,
    service: ModelService,
    options: { readonly textOnly: boolean },
  ): Promise<Composed | null>
}

export function createComposer(options: {
  readonly ledger: LedgerReader
  readonly chain: ChainReader
  readonly adaptations: (channel: SpokenChannel) => readonly Adaptation[]
  readonly tools: ReadonlyMap<string, Tool>
  readonly timezone: () => string
}): Composer {
  const { ledger, chain, tools } = options
  return {
    async compose(turn, service, { textOnly }) {
      const [message] = ledger.readSeqs([turn.causeSeq])
      if (message?.type !== 'chat.message.received' && message?.type !== 'sms.received') return null
      if (!message.body) return null
      const channel: SpokenChannel =
        turn.channel === 'voice' || turn.channel === 'sms' ? turn.channel : 'chat'
      const past =
        turn.conversationId === null ? null : chain.read(turn.conversationId, service.text.id, { textOnly })
      const adaptations = options.adaptations(channel)
      return {
        request: {
          instructions: buildInstructions({ channel, adaptations }),
          tools: [...tools.values()],
          timezone: options.timezone(),
        },
        input: [
          ...(past?.items ?? []).map(({ item }) => item),
          { type: 'message', role: 'owner', text: message.body.text, at: message.at },
        ],
        facts: past?.base && past.base.row.consumed === 0 ? [consumed(turn, past.base)] : [],
        adaptationIds: adaptations.map(({ id }) => id),
        signalIds: [],
        seenSeqs: [],
        baseForm: past?.base?.form ?? null,
      }
    },
  }
}

/** The first turn on a replacement proves that the chain can be continued from it. */
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
