import type { Append } from '../../ledger/event.ts'
import { createSignalQueries } from '../../projections/signals.ts'
import { createTimerQueries } from '../../projections/timers.ts'
import { createTurnQueries } from '../../projections/turns.ts'
import type { Log } from '../lib/log.ts'
import type { Recall } from '../lib/recall.ts'
import type { ModelService } from '../model/port.ts'
import type { Tool } from '../model/tool.ts'
import type { Settings } from '../settings/settings.ts'
import type { Placement } from '../storage/placement.ts'
import type { Storage } from '../storage/storage.ts'
import { createActivationRunner } from './activation.ts'
import { createChainReader } from './context/chain.ts'
import { createCompactor } from './context/compaction.ts'
import { createComposer } from './context/composer.ts'
import { fitStanding } from './context/fit.ts'
import { createGuestComposer } from './context/guest-composer.ts'
import { guestCallInstructions, guestText } from './context/guest-instructions.ts'
import { type Adaptation, buildInstructions, type SpokenChannel } from './context/instructions.ts'
import { profileOf, thresholdsOf } from './context/profile.ts'
import { createSessionContext } from './context/session-context.ts'
import type { Previews } from './conversation/previews.ts'
import { createLanes } from './lanes.ts'
import { createMoreTools } from './tools/more-tools.ts'
import { createIsForeign } from './turn/foreign.ts'
import { createProvenance } from './turn/provenance.ts'
import { type CreateNote, createShortenReply, shortenForGuest } from './turn/reply-text.ts'
import { createToolRunner, type Propose } from './turn/tool-runner.ts'
import { createTurnRunner } from './turn/turn.ts'

export type AssistantOptions = {
  readonly storage: Storage
  readonly settings: Settings
  readonly model: () => ModelService
  readonly tools: ReadonlyMap<string, Tool>
  readonly propose: Propose
  readonly createNote: CreateNote
  readonly recall: Recall
  readonly placement: Placement
  readonly previews: Previews
  readonly adaptations: (channel: SpokenChannel) => readonly Adaptation[]
  /** The events with the text of those instructions. */
  readonly adaptationSeqs: (channel: SpokenChannel) => readonly number[]
  readonly newId: () => string
  readonly nowMs: () => number
  readonly log: Log
  readonly onFault: (error: unknown) => void
  readonly onGuestFault: (error: unknown) => void
  /** Whether the daily budget of tokens is exhausted. */
  readonly tokensAreSpent: () => boolean
  /** While halted, chat is answered without tools that act, and nothing else runs. */
  readonly isHalted: () => boolean
  /** Whether no money is left for work that the owner did not ask for. */
  readonly backgroundIsSpent: () => boolean
  /** The number of segments that a text is billed as. */
  readonly segmentsOf: (text: string) => number
  readonly traceItems: boolean
  /** The events with the words of a guest's number, oldest first. */
  readonly guestWordSeqs: (number: string, limit: number) => readonly number[]
}

/** Wires the attention, turns, activations and the context. */
export function buildAssistant(options: AssistantOptions) {
  const { storage, model, placement, tools, nowMs } = options
  const { views } = storage
  const turns = createTurnQueries(views)
  const signals = createSignalQueries(views)
  const context = buildContext(options)
  const { foreignAmong, chain, compactor } = context
  const { runTurn, runGuestTurn } = buildRunners(options, context)
  const activations = createActivationRunner({
    ...options,
    ...storage,
    openConversationId: placement.openConversationId,
    runTurn,
    turnById: turns.byId,
    unfinishedTurns: turns.unfinished,
  })

  /** Whether it may do work that the owner did not ask for. The builtin model costs nothing. */
  const mayAskModel = () =>
    !options.isHalted() &&
    (model().text.id.provider === 'builtin' || !(options.tokensAreSpent() || options.backgroundIsSpent()))

  async function compactIfDue(signal: AbortSignal): Promise<void> {
    const conversationId = placement.openConversationId()
    if (conversationId === undefined || !mayAskModel()) return
    // By now, a local server has loaded the model.
    await model().context?.learn()
    const isOverfull = await compactor.isOverfull(conversationId)
    if (compactor.isDue(conversationId, isOverfull))
      await compactor.compact(conversationId, 'automatic', signal)
    // Interrupted for a waiting message.
    if (!signal.aborted) await compactor.refreshCapsule(conversationId, signal)
  }

  const { attention, guests } = createLanes({
    ...options,
    ...storage,
    turns,
    signals,
    runTurn,
    runGuestTurn,
    runActivation: activations.runActivation,
    compactIfDue,
    async recover() {
      await activations.recover(signals.running(), signals.ofActivation)
      await compactor.recover()
    },
    mayAskModel,
  })

  /** Whether a turn of the owner is running or waiting. */
  const isTurnRunning = () => turns.unfinished().some(({ party }) => party === 'owner')
  const sessionContext = createSessionContext({
    views,
    openConversationId: placement.openConversationId,
    isBusy: () => attention.isBusy() || isTurnRunning(),
    thresholdTokens: context.sizes.compactTokens,
  })

  return {
    attention,
    compactor,
    isTurnRunning,
    sessionContext,
    guests,
    chain,
    sourcesOf: createProvenance().sourcesOf,
    guestCallInstructions,
    /** Runs the tools of a call, which appends facts in its own order. */
    callTools: (call: {
      readonly append: Append
      readonly onFault: (error: unknown, tool: string) => void
    }) => createToolRunner({ ...call, tools, propose: options.propose, foreignAmong, nowMs }),
    turns,
    /** A realtime model has a context of its own. */
    instructions(channel: SpokenChannel, { isRealtime = false } = {}) {
      const profile = isRealtime ? null : context.sizes.profile()
      const all = options.adaptations(channel)
      return buildInstructions({
        channel,
        adaptations: profile ? fitStanding(all, profile.standingTokens) : all,
        isHalted: options.isHalted(),
        isShort: profile?.isShort,
      })
    },
  }
}

/** What the context of the model allows. */
function createSizes({ settings, model }: Pick<AssistantOptions, 'settings' | 'model'>) {
  const profile = () => profileOf(model().context?.tokens ?? null)
  const thresholds = () =>
    thresholdsOf(profile(), {
      compactTokens: settings.get('COMPACT_THRESHOLD_TOKENS'),
      capsuleTokens: settings.get('CAPSULE_TRIGGER_TOKENS'),
    })
  return {
    profile,
    compactTokens: () => thresholds().compactTokens,
    capsuleTokens: () => thresholds().capsuleTokens,
  }
}

/** The conversation as the model reads it, and its compaction. */
function buildContext(options: AssistantOptions) {
  const { storage, settings } = options
  const { ledger, views } = storage
  const timers = createTimerQueries(views)
  const isForeign = createIsForeign(ledger)
  const foreignAmong = (seqs: readonly number[]) =>
    ledger.readSeqs(seqs).flatMap((event) => (isForeign(event) ? [event.seq] : []))
  const timezone = () => settings.get('TIMEZONE')
  const chain = createChainReader(views, ledger)
  const sizes = createSizes(options)
  const compactor = createCompactor({
    ...options,
    ...storage,
    chain,
    instructions: () => buildInstructions({ channel: 'chat', adaptations: options.adaptations('chat') }),
    instructionSeqs: () =>
      ledger.readSeqs(options.adaptationSeqs('chat')).flatMap(({ seq, erased }) => (erased ? [] : [seq])),
    commitments: () =>
      timers.active().flatMap(({ setSeq }) => {
        const [event] = ledger.readSeqs([setSeq])
        const isTimer = event?.type === 'timer.set' || event?.type === 'timer.changed'
        if (!isTimer || !event.body) return []
        return [{ seq: setSeq, title: event.body.title, foreign: isForeign(event) }]
      }),
    thresholdTokens: sizes.compactTokens,
    capsuleTriggerTokens: sizes.capsuleTokens,
    timezone,
  })
  const composer = createComposer({
    ...options,
    ledger,
    chain,
    ridingSignals: createSignalQueries(views).riding,
    foreignAmong,
    timezone,
  })
  return { foreignAmong, chain, compactor, composer, sizes }
}

/** What runs the turns of the owner and of guests. */
function buildRunners(
  options: AssistantOptions,
  { foreignAmong, compactor, composer, sizes }: ReturnType<typeof buildContext>,
) {
  const { storage, settings, log } = options
  const { ledger, views } = storage
  const common = {
    ...options,
    ...storage,
    turnEventSeqs: createTurnQueries(views).eventSeqs,
    triedBefore: createSignalQueries(views).triedBefore,
    foreignAmong,
    timezone: () => settings.get('TIMEZONE'),
    right: (channel: SpokenChannel) => (channel === 'sms' ? settings.get('RIGHTS_TEXTS') : 'everything'),
    thresholdTokens: sizes.compactTokens,
    isSpent: options.tokensAreSpent,
    onFault: storage.reportFault,
  }
  const moreTools = createMoreTools(options.tools)
  const runTurn = createTurnRunner({
    ...common,
    tools: new Map([...options.tools, [moreTools.name, moreTools]]),
    composer,
    shorten: async (conversationId, signal) => {
      const outcome = await compactor.compact(conversationId, 'automatic', signal)
      return outcome.status === 'succeeded'
    },
    shortenReply: createShortenReply(options),
    traceItem: options.traceItems ? (direction, item) => log.info({ direction, ...item }, 'item') : undefined,
  })
  const runGuestTurn = createTurnRunner({
    ...common,
    composer: createGuestComposer({ ledger, wordSeqs: options.guestWordSeqs }),
    tools: new Map(),
    shorten: async () => false,
    shortenReply: async (text) =>
      guestText(shortenForGuest(text), { ownerIsKnown: settings.get('OWNER_PHONE_NUMBER') !== null }),
  })
  return { runTurn, runGuestTurn }
}
