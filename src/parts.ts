import { createMemoryQueries, isHidden } from '../projections/memory-queries.ts'
import { createOwnerQueries } from '../projections/owner.ts'
import { createProposalQueries } from '../projections/proposals.ts'
import { createTextQueries } from '../projections/texts.ts'
import { createAdaptations } from './adaptations/adaptations.ts'
import { createChatChannel } from './agent/chat.ts'
import { buildConversations } from './agent/conversation/index.ts'
import { buildAssistant } from './agent/index.ts'
import { createProposals } from './agent/proposals/proposals.ts'
import { withMaskedResults } from './agent/tools/masked.ts'
import { createTurnReport } from './agent/turn/turn-report.ts'
import { buildErasing } from './erasing/index.ts'
import type { Foundation } from './foundation.ts'
import { createMemoryConfig } from './memory/config.ts'
import { buildMemory } from './memory/index.ts'
import { openVectors } from './memory/recall/embedding.ts'
import type { Tool } from './model/tool.ts'
import { createNotes } from './notes/notes.ts'
import { noteTools } from './notes/tools.ts'
import { createBudgets } from './operations/budgets.ts'
import { createGuestBudget } from './operations/guest-budget.ts'
import { createOperationsReport, createOperationsSeries } from './operations/report.ts'
import { buildPhone } from './phone/index.ts'
import { createHangUp, createTelephonyApi } from './phone/line/api.ts'
import { ownerNumbersOf } from './settings/party.ts'
import { buildTexts, createGuestWordSeqs } from './sms/index.ts'
import { segmentsOf } from './sms/segments.ts'
import { smsTools } from './sms/tool.ts'
import { caughtUpWithin } from './storage/index-wait.ts'
import { buildWork } from './tasks/index.ts'
import { taskTools } from './tasks/tools.ts'
import { buildTimeline } from './timeline/index.ts'
import { createTimers } from './timers/timers.ts'
import { timerTools } from './timers/tools.ts'

/** Builds the parts of the service, each from earlier ones. None runs before it is started. */
export async function buildParts(foundation: Foundation) {
  const { config, storage, kysely, owner, settings, timezone, nowMs, newId, faultsOf } = foundation
  const { append, ledger, views, onHeadMoved } = storage
  const memoryQueries = createMemoryQueries(views)
  const ownerNumbers = () => ownerNumbersOf(settings)

  const conversations = buildConversations(foundation)
  const { placement, previews, paging } = conversations
  const timeline = buildTimeline(foundation)
  const adaptations = createAdaptations({ append, ledger, views, dataDir: foundation.directory })
  const notes = createNotes({
    append,
    ledger,
    views: kysely,
    catchUpSearch: () => caughtUpWithin(storage.catchUpLagging),
    newId,
  })
  const timers = createTimers({
    append,
    appendToConversation: (compose) => placement.appendToConversation('inner', compose),
    ledger,
    views,
    onHeadMoved,
    timezone,
    nowMs,
    newId,
    onFault: faultsOf('timers'),
  })
  const proposals = createProposals({
    append,
    ledger,
    queries: createProposalQueries(views),
    placement,
    tools: () => toolsByName,
    isHeld: () => createOwnerQueries(views).outboundHeld() !== undefined,
    onHeadMoved,
    timezone,
    onFault: faultsOf('proposals'),
    nowMs,
    newId,
  })

  const vectors = openVectors(foundation.directory, { onFailure: foundation.onThreadFailure })
  const memory = buildMemory({
    ...foundation,
    onLearningFailed: foundation.reactors.failuresOf('learning'),
    vectors,
    config: createMemoryConfig({
      load: () => owner.documents.document('memory'),
      save: (document) => owner.documents.writeDocument('memory', document),
    }),
  })
  const { erasures, forgetting } = buildErasing({
    ...foundation,
    onFault: faultsOf('erasures'),
    memory,
    forgetVectors: vectors.forget,
    spanSeqs: timeline.spanSeqs,
    adaptationSeqs: adaptations.seqs,
    removeAdaptationFiles: adaptations.removeFilesOf,
  })

  const work = buildWork({ ...foundation, placement, ownerNumber: () => ownerNumbers()[0] ?? '' })
  const telephony = createTelephonyApi(settings, { requestMs: foundation.waits.providerRequestMs })
  const tools = [
    ...memory.tools(forgetting),
    ...noteTools(notes),
    ...timerTools(timers),
    ...taskTools(work.tasks),
    ...timeline.tools,
    ...smsTools({
      append,
      propose: proposals.propose,
      ownerNumbers,
      isOptedOut: createTextQueries(views).isOptedOut,
      isConfigured: () => telephony.credentials() !== null && settings.get('TELEPHONY_PHONE_NUMBER') !== null,
    }),
  ].map((tool) => withMaskedResults(tool, foundation.mask.values))

  const toolsByName: ReadonlyMap<string, Tool> = new Map(tools.map((tool) => [tool.name, tool]))

  const guestWordSeqs = createGuestWordSeqs(storage)
  const dailyTotal = () => settings.get('GUEST_DAILY_MESSAGES')
  const guestBudget = createGuestBudget({ storage, dailyTotal, nowMs })
  const budgets = createBudgets({ storage, limits: config.dailyLimits, nowMs })
  const common = {
    ...foundation,
    placement,
    recall: memory.recall,
    tools: toolsByName,
    propose: proposals.proposeDeed,
    ...budgets,
    guestIsSpent: guestBudget.isSpent,
  }
  const assistant = buildAssistant({
    ...common,
    createNote: notes.create,
    segmentsOf,
    previews,
    adaptations: adaptations.forChannel,
    adaptationSeqs: adaptations.seqsInForce,
    traceItems: config.itemsDebug,
    guestWordSeqs,
  })
  const chat = createChatChannel({
    append,
    ledger,
    placement,
    turnById: assistant.turns.byId,
    onHeadMoved,
    newId,
  })
  const phone = await buildPhone({
    ...common,
    chain: assistant.chain,
    callTools: assistant.callTools,
    sourcesOf: assistant.sourcesOf,
    guestInstructions: assistant.guestCallInstructions,
    instructions: () => assistant.instructions('voice'),
    adaptationIds: () => adaptations.forChannel('voice').map(({ id }) => id),
    guestWordSeqs,
    hangUpAtProvider: createHangUp(telephony),
  })
  const texts = buildTexts({
    ...common,
    telephony,
    turnById: assistant.turns.byId,
    guests: assistant.guests,
  })

  return {
    ...conversations,
    timeline,
    adaptations,
    notes,
    timers,
    proposals,
    erasures,
    memory,
    work,
    telephony,
    assistant,
    chat,
    phone,
    texts,
    report: createOperationsReport({
      views,
      capsule: () => assistant.sessionContext().capsule,
      paging,
      deduplication: memory.counters.read,
      nowMs,
    }),
    series: createOperationsSeries({ views, nowMs }),
    turnReport: createTurnReport({
      ledger,
      turnById: assistant.turns.byId,
      eventSeqs: assistant.turns.eventSeqs,
      memoryText: (id) => {
        const row = memoryQueries.byId(id)
        return row === undefined || isHidden(row) ? null : row.text
      },
      signalSeq: assistant.signalSeq,
    }),
  }
}

export type Parts = Awaited<ReturnType<typeof buildParts>>
