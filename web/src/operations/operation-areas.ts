import type { OperationsReport, OperationsSeries } from '../../../src/http/contract/operations.ts'

/** The figures and charts of the operations page. */

/** A figure: its number, null without observations, its name, its meaning, and whether it is a rate. */
export type Figure = readonly [
  of: (report: OperationsReport) => number | null,
  name: string,
  meaning: string,
  as?: 'rate',
]

export type Tone = 'accent' | 'success' | 'danger' | 'faint'
export type ChartLine = readonly [
  metric: keyof OperationsSeries['points'][number]['counts'],
  label: string,
  tone: Tone,
]

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
          ['turns', 'Completed', 'accent'],
          ['turnFailures', 'Failed', 'danger'],
        ],
      },
      {
        title: 'Tokens',
        lines: [
          ['inputTokens', 'Input', 'accent'],
          ['cachedTokens', 'Cached input', 'faint'],
          ['outputTokens', 'Output', 'success'],
        ],
      },
    ],
    figures: [
      [(report) => report.model.turns, 'Turns', 'Messages and signals that were fully answered.'],
      [
        (report) => report.model.failures,
        'Failed turns',
        'Turns that failed. Turns that you stopped do not count.',
      ],
      [(report) => report.model.inputTokens, 'Input tokens', 'Tokens sent to the model.'],
      [
        (report) => report.model.cachedTokens,
        'Cached tokens',
        'Input tokens that the service had cached, which cost less.',
      ],
      [
        (report) => report.model.outputTokens,
        'Output tokens',
        'Tokens written by the model, including its reasoning.',
      ],
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
          ['capsulesWritten', 'Summaries', 'accent'],
          ['automaticCompactions', 'Compactions', 'success'],
          ['manualCompactionFailures', 'Failed on request', 'danger'],
        ],
      },
    ],
    figures: [
      [
        (report) => report.context.usage.records,
        'Measurements',
        'Records of the context size, one per turn.',
      ],
      [
        (report) => report.context.capsule.written,
        'Summaries',
        'Summaries from which any model can continue the conversation.',
      ],
      [
        (report) => report.context.automaticCompactions,
        'Compactions',
        'Automatic compactions of a full context.',
      ],
      [
        (report) => report.context.manualCompaction.attempts,
        'Compactions on request',
        'Compactions that you requested.',
      ],
      [
        (report) => report.context.manualCompaction.failures,
        'Failed on request',
        'Requested compactions that failed. The context was unchanged.',
      ],
      [
        (report) => report.context.manualCompaction.successRate,
        'Success rate',
        'Share of requested compactions that succeeded.',
        'rate',
      ],
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
          ['deliveryAttempts', 'Attempts', 'faint'],
          ['deliverySuccesses', 'Delivered', 'success'],
          ['deliveryFailedAttempts', 'Failed', 'danger'],
        ],
      },
    ],
    figures: [
      [(report) => report.copilotDelivery.attempts, 'Attempts', 'Outcomes sent, including retries.'],
      [(report) => report.copilotDelivery.successes, 'Delivered', 'Attempts that reached you.'],
      [
        (report) => report.copilotDelivery.failedAttempts,
        'Failed attempts',
        'Refused, unconfirmed, or interrupted when Delegate stopped.',
      ],
      [
        (report) => report.copilotDelivery.retriedAttempts,
        'Retries',
        'Attempts after the first one of a delivery.',
      ],
      [
        (report) => report.copilotDelivery.finalFailures,
        'Failed deliveries',
        'Deliveries that failed for good and fell back to the chat.',
      ],
      [
        (report) => report.copilotDelivery.attemptSuccessRate,
        'Success rate',
        'Share of attempts that reached you.',
        'rate',
      ],
      [
        (report) => report.copilotDelivery.retryRate,
        'Retry rate',
        'Share of attempts that were retries.',
        'rate',
      ],
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
          ['textAttempts', 'Attempts', 'faint'],
          ['textFailedAttempts', 'Failed', 'danger'],
        ],
      },
    ],
    figures: [
      [(report) => report.texts.attempts, 'Attempts', 'Texts handed to the provider, including retries.'],
      [
        (report) => report.texts.failedAttempts,
        'Failed attempts',
        'The provider refused the text or did not respond.',
      ],
      [
        (report) => report.texts.notSent,
        'Not sent',
        'Texts that failed for good, or may not have been sent.',
      ],
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
          ['memoriesSurfaced', 'Recalled', 'accent'],
          ['memoriesSuppressed', 'Held back', 'faint'],
        ],
      },
    ],
    figures: [
      [(report) => report.memory.surfaced, 'Recalled', 'Memories given to a turn.'],
      [
        (report) => report.memory.suppressed,
        'Held back',
        'Memories found but not used: already known, irrelevant or too late.',
      ],
      [
        (report) => report.memory.lateResults.surfaced,
        'Late, used',
        'Found after their turn started, and given to the next turn.',
      ],
      [
        (report) => report.memory.lateResults.duplicate,
        'Late, duplicate',
        'Found late, when already in the conversation.',
      ],
      [
        (report) => report.memory.lateResults.irrelevant,
        'Late, irrelevant',
        'Found late, when the conversation had moved on.',
      ],
      [(report) => report.memory.lateResults.expired, 'Late, expired', 'Found too late for any turn.'],
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
          ['textsOverBudget', 'Texts', 'accent'],
          ['callsOverBudget', 'Calls', 'danger'],
        ],
      },
    ],
    figures: [
      [(report) => report.guests.textsOverBudget, 'Texts above the limit', 'Not answered and not stored.'],
      [
        (report) => report.guests.callsOverBudget,
        'Calls above the limit',
        'Callers were asked to try again tomorrow.',
      ],
    ],
  },
  {
    heading: 'Learning',
    scope: 'process_runtime',
    intro: 'What happened to each statement that might become a memory.',
    charts: [],
    figures: [
      [(report) => report.memory.deduplication.candidates, 'Candidates', 'Statements considered.'],
      [(report) => report.memory.deduplication.inserted, 'New', 'Stored as a new memory.'],
      [
        (report) => report.memory.deduplication.reinforced,
        'Reinforced',
        'Already known: the memory got stronger.',
      ],
      [(report) => report.memory.deduplication.merged, 'Merged', 'Added to an existing memory.'],
      [(report) => report.memory.deduplication.discarded, 'Discarded', 'Not worth remembering.'],
      [
        (report) => report.memory.deduplication.suppressed,
        'Suppressed',
        'Blocked because you asked to forget them.',
      ],
    ],
  },
  {
    heading: 'Timeline paging',
    scope: 'process_runtime',
    intro: 'How browsers and other clients read the timeline.',
    charts: [],
    figures: [
      [
        (report) => report.timelinePaging.initialPageRequests,
        'Newest pages',
        'Requests for the newest page.',
      ],
      [(report) => report.timelinePaging.olderPageRequests, 'Older pages', 'Requests for an older page.'],
      [(report) => report.timelinePaging.eventsSent, 'Events sent', 'Events in all pages.'],
      [
        (report) => report.timelinePaging.expandedEvents,
        'Added events',
        'Events added to pages to keep exchanges whole.',
      ],
      [
        (report) => report.timelinePaging.maxPageEvents,
        'Largest page',
        'Number of events in the largest page.',
      ],
    ],
  },
]
