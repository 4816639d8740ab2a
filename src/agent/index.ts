import { createOwnerQueries } from '../../projections/owner.ts'
import { createTurnQueries, type TurnRow } from '../../projections/turns.ts'
import type { Tool } from '../model/tool.ts'
import { type AssistantOptions, buildAssistant } from './assistant.ts'
import { createChatChannel, type ReplacedWords } from './chat.ts'
import { createEnding } from './conversation/ending.ts'
import { createIdleWatch } from './conversation/idle-watch.ts'
import { createPreviews } from './conversation/previews.ts'
import { createProposals, type Proposals } from './proposals/proposals.ts'
import { unlessHalted } from './tools/halted.ts'
import { withMaskedResults } from './tools/masked.ts'
import { type CostOf, createTurnReport } from './turn/turn-report.ts'

export type Agent = ReturnType<typeof buildAgent>

export type AgentOptions = Omit<AssistantOptions, 'tools' | 'propose' | 'previews'> & {
  /** The tools of all features. Texts to others are only proposed, and only the owner chooses. */
  readonly tools: (proposals: Pick<Proposals, 'propose' | 'offeredIn'>) => readonly Tool[]
  /** Masks the secrets in the result of a tool. */
  readonly maskSecrets: (text: string) => string
  /** What a turn cost, in millionths of a dollar; null if that was not recorded. */
  readonly costOf: CostOf
  readonly replacedWords: ReplacedWords
  /** How often to look for interactions that have gone idle. */
  readonly idleLookMs: number | undefined
  readonly onIdleFault: (error: unknown) => void
  readonly onProposalFault: (error: unknown) => void
}

/** Wires the agent: the conversation, its tools and proposals, turns and activations. */
export function buildAgent(options: AgentOptions) {
  const { storage, settings } = options
  const { outboundHeld } = createOwnerQueries(storage.views)
  const previews = createPreviews()
  const proposals = createProposals({
    ...options,
    ...storage,
    tools: () => tools,
    isHeld: () => options.isHalted() || outboundHeld() !== undefined,
    timezone: () => settings.get('TIMEZONE'),
    onFault: options.onProposalFault,
  })
  const tools: ReadonlyMap<string, Tool> = new Map(
    options
      .tools(proposals)
      .map((tool) => unlessHalted(tool, options.isHalted))
      .map((tool) => [tool.name, withMaskedResults(tool, options.maskSecrets)] as const),
  )
  const assistant = buildAssistant({ ...options, tools, propose: proposals.proposeDeed, previews })
  const conversation = buildConversation(options, assistant.attention.stop)

  return {
    ...assistant,
    ...conversation,
    proposals,
    previews,
    tools,
    chat: createChatChannel({ ...options, ...storage, turns: assistant.turns }),
    turnReport: createTurnReport({ ...storage, costOf: options.costOf }),
  }
}

/** How long ending a conversation waits for its running turn. */
const STOP_MS = 5_000

function buildConversation(
  { storage, settings, nowMs, idleLookMs, onIdleFault }: AgentOptions,
  stop: (turnId: string) => boolean,
) {
  const turns = createTurnQueries(storage.views)

  async function stopTurns(conversationId: string): Promise<void> {
    const late = AbortSignal.timeout(STOP_MS)
    // A call goes on.
    const isMeant = (turn: TurnRow) =>
      turn.party === 'owner' && turn.trigger !== 'call' && turn.conversationId === conversationId
    const open = () => turns.unfinished().filter(isMeant)
    while (open().length > 0 && !late.aborted) {
      const moved = Promise.withResolvers<void>()
      late.addEventListener('abort', () => moved.resolve())
      const unsubscribe = storage.onHeadMoved(moved.resolve, ['chat', 'sms', 'turn'])
      for (const { turnId } of open()) stop(turnId)
      await moved.promise
      unsubscribe()
    }
  }

  const ending = createEnding({
    ...storage,
    nowMs,
    isBusy: (spanId) => turns.unfinished().some((turn) => turn.spanId === spanId),
    stopTurns,
  })
  return {
    endConversation: ending.endConversation,
    idleWatch: createIdleWatch({
      ...storage,
      ending,
      idleMs: () => settings.get('SESSION_IDLE_MINUTES') * 60_000,
      onFault: onIdleFault,
      lookEveryMs: idleLookMs,
    }),
  }
}
