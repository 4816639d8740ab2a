import type { OperationsReport, OperationsSeries } from '../../../src/http/contract/operations.ts'
/** The figures and charts of the operations page. */

export type Figure = {
  /** Null without observations. */
  readonly of: (report: OperationsReport) => number | null
  readonly name: string
  readonly meaning: string
  readonly as?: 'rate'
}

export type ChartLine = {
  readonly metric: keyof OperationsSeries['points'][number]['counts']
  readonly label: string
  readonly tone: Tone
}
export type Tone = 'accent' | 'success' | 'danger' | 'faint'

export type Area = {
  readonly heading: string
  /** Counted from the ledger for the window, or in memory since the process started. */
  readonly scope: 'window' | 'process_runtime'
  readonly intro: string
  readonly charts: readonly { readonly title: string; readonly lines: readonly ChartLine[] }[]
  readonly figures: readonly Figure[]
}

export const areas: readonly Area[] = [
  {
    heading: 'Model',
    scope: 'window',
    intro: 'Turns answered by a model, and the tokens they used.',
    charts: [
      {
        title: 'Turns',
        lines: [
          { metric: 'turns', label: 'Completed', tone: 'accent' },
          { metric: 'turnFailures', label: 'Failed', tone: 'danger' },
        ],
      },
      {
        title: 'Tokens',
        lines: [
          { metric: 'inputTokens', label: 'Input', tone: 'accent' },
          { metric: 'cachedTokens', label: 'Cached input', tone: 'faint' },
          { metric: 'outputTokens', label: 'Output', tone: 'success' },
        ],
      },
    ],
    figures: [
      {
        of: (report) => report.model.turns,
        name: 'Turns',
        meaning: 'Messages and signals that were fully answered.',
      },
      {
        of: (report) => report.model.failures,
        name: 'Failed turns',
        meaning: 'Turns that failed. Turns that you stopped do not count.',
      },
      {
        of: (report) => report.model.inputTokens,
        name: 'Input tokens',
        meaning: 'Tokens sent to the model.',
      },
      {
        of: (report) => report.model.cachedTokens,
        name: 'Cached tokens',
        meaning: 'Input tokens that the service had cached, which cost less.',
      },
      {
        of: (report) => report.model.outputTokens,
        name: 'Output tokens',
        meaning: 'Tokens written by the model, including its reasoning.',
      },
    ],
  },
  {
    heading: 'Context',
    scope: 'window',
    intro: 'How the conversation is kept within the limits of the model.',
    charts: [
      {
        title: 'Summaries and compactions',
        lines: [
          { metric: 'capsulesWritten', label: 'Summaries', tone: 'accent' },
          { metric: 'automaticCompactions', label: 'Compactions', tone: 'success' },
          { metric: 'manualCompactionFailures', label: 'Failed on request', tone: 'danger' },
        ],
      },
    ],
    figures: [
      {
        of: (report) => report.context.usage.records,
        name: 'Measurements',
        meaning: 'Records of the context size, one per turn.',
      },
      {
        of: (report) => report.context.capsule.written,
        name: 'Summaries',
        meaning: 'Summaries from which any model can continue the conversation.',
      },
      {
        of: (report) => report.context.automaticCompactions,
        name: 'Compactions',
        meaning: 'Automatic compactions of a full context.',
      },
      {
        of: (report) => report.context.manualCompaction.attempts,
        name: 'Compactions on request',
        meaning: 'Compactions that you requested.',
      },
      {
        of: (report) => report.context.manualCompaction.failures,
        name: 'Failed on request',
        meaning: 'Requested compactions that failed. The context was unchanged.',
      },
      {
        of: (report) => report.context.manualCompaction.successRate,
        name: 'Success rate',
        meaning: 'Share of requested compactions that succeeded.',
        as: 'rate',
      },
    ],
  },
  {
    heading: 'Task delivery',
    scope: 'window',
    intro: 'How task outcomes reached you, on every channel.',
    charts: [
      {
        title: 'Attempts',
        lines: [
          { metric: 'deliveryAttempts', label: 'Attempts', tone: 'faint' },
          { metric: 'deliverySuccesses', label: 'Delivered', tone: 'success' },
          { metric: 'deliveryFailedAttempts', label: 'Failed', tone: 'danger' },
        ],
      },
    ],
    figures: [
      {
        of: (report) => report.copilotDelivery.attempts,
        name: 'Attempts',
        meaning: 'Outcomes sent, including retries.',
      },
      {
        of: (report) => report.copilotDelivery.successes,
        name: 'Delivered',
        meaning: 'Attempts that reached you.',
      },
      {
        of: (report) => report.copilotDelivery.failedAttempts,
        name: 'Failed attempts',
        meaning: 'Refused, unconfirmed, or interrupted when Delegate stopped.',
      },
      {
        of: (report) => report.copilotDelivery.retriedAttempts,
        name: 'Retries',
        meaning: 'Attempts after the first one of a delivery.',
      },
      {
        of: (report) => report.copilotDelivery.finalFailures,
        name: 'Failed deliveries',
        meaning: 'Deliveries that failed for good and fell back to the chat.',
      },
      {
        of: (report) => report.copilotDelivery.attemptSuccessRate,
        name: 'Success rate',
        meaning: 'Share of attempts that reached you.',
        as: 'rate',
      },
      {
        of: (report) => report.copilotDelivery.retryRate,
        name: 'Retry rate',
        meaning: 'Share of attempts that were retries.',
        as: 'rate',
      },
    ],
  },
  {
    heading: 'Text messages',
    scope: 'window',
    intro: 'Texts handed to the provider. A failed text is retried for a day.',
    charts: [
      {
        title: 'Attempts',
        lines: [
          { metric: 'textAttempts', label: 'Attempts', tone: 'faint' },
          { metric: 'textFailedAttempts', label: 'Failed', tone: 'danger' },
        ],
      },
    ],
    figures: [
      {
        of: (report) => report.texts.attempts,
        name: 'Attempts',
        meaning: 'Texts handed to the provider, including retries.',
      },
      {
        of: (report) => report.texts.failedAttempts,
        name: 'Failed attempts',
        meaning: 'The provider refused the text or did not respond.',
      },
      {
        of: (report) => report.texts.notSent,
        name: 'Not sent',
        meaning: 'Texts that failed for good, or may not have been sent.',
      },
    ],
  },
  {
    heading: 'Memory',
    scope: 'window',
    intro: 'Memories that were recalled for turns, and those held back.',
    charts: [
      {
        title: 'Recall',
        lines: [
          { metric: 'memoriesSurfaced', label: 'Recalled', tone: 'accent' },
          { metric: 'memoriesSuppressed', label: 'Held back', tone: 'faint' },
        ],
      },
    ],
    figures: [
      { of: (report) => report.memory.surfaced, name: 'Recalled', meaning: 'Memories given to a turn.' },
      {
        of: (report) => report.memory.suppressed,
        name: 'Held back',
        meaning: 'Memories found but not used: already known, irrelevant or too late.',
      },
      {
        of: (report) => report.memory.lateResults.surfaced,
        name: 'Late, used',
        meaning: 'Found after their turn started, and given to the next turn.',
      },
      {
        of: (report) => report.memory.lateResults.duplicate,
        name: 'Late, duplicate',
        meaning: 'Found late, when already in the conversation.',
      },
      {
        of: (report) => report.memory.lateResults.irrelevant,
        name: 'Late, irrelevant',
        meaning: 'Found late, when the conversation had moved on.',
      },
      {
        of: (report) => report.memory.lateResults.expired,
        name: 'Late, expired',
        meaning: 'Found too late for any turn.',
      },
    ],
  },
  {
    heading: 'Strangers',
    scope: 'window',
    intro: 'Texts and calls from strangers above the daily limit. Counted, not recorded.',
    charts: [
      {
        title: 'Above the limit',
        lines: [
          { metric: 'textsOverBudget', label: 'Texts', tone: 'accent' },
          { metric: 'callsOverBudget', label: 'Calls', tone: 'danger' },
        ],
      },
    ],
    figures: [
      {
        of: (report) => report.guests.textsOverBudget,
        name: 'Texts above the limit',
        meaning: 'Not answered and not stored.',
      },
      {
        of: (report) => report.guests.callsOverBudget,
        name: 'Calls above the limit',
        meaning: 'Callers were asked to try again tomorrow.',
      },
    ],
  },
  {
    heading: 'Learning',
    scope: 'process_runtime',
    intro: 'What happened to each statement that might become a memory.',
    charts: [],
    figures: [
      {
        of: (report) => report.memory.deduplication.candidates,
        name: 'Candidates',
        meaning: 'Statements considered.',
      },
      {
        of: (report) => report.memory.deduplication.inserted,
        name: 'New',
        meaning: 'Stored as a new memory.',
      },
      {
        of: (report) => report.memory.deduplication.reinforced,
        name: 'Reinforced',
        meaning: 'Already known: the memory got stronger.',
      },
      {
        of: (report) => report.memory.deduplication.merged,
        name: 'Merged',
        meaning: 'Added to an existing memory.',
      },
      {
        of: (report) => report.memory.deduplication.discarded,
        name: 'Discarded',
        meaning: 'Not worth remembering.',
      },
      {
        of: (report) => report.memory.deduplication.suppressed,
        name: 'Suppressed',
        meaning: 'Blocked because you asked to forget them.',
      },
    ],
  },
  {
    heading: 'Timeline paging',
    scope: 'process_runtime',
    intro: 'How browsers and other clients read the timeline.',
    charts: [],
    figures: [
      {
        of: (report) => report.timelinePaging.initialPageRequests,
        name: 'Newest pages',
        meaning: 'Requests for the newest page.',
      },
      {
        of: (report) => report.timelinePaging.olderPageRequests,
        name: 'Older pages',
        meaning: 'Requests for an older page.',
      },
      {
        of: (report) => report.timelinePaging.eventsSent,
        name: 'Events sent',
        meaning: 'Events in all pages.',
      },
      {
        of: (report) => report.timelinePaging.expandedEvents,
        name: 'Added events',
        meaning: 'Events added to pages to keep exchanges whole.',
      },
      {
        of: (report) => report.timelinePaging.maxPageEvents,
        name: 'Largest page',
        meaning: 'Number of events in the largest page.',
      },
    ],
  },
]
