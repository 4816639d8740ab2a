import type { OperationsReport, OperationsSeries } from '../../../src/http/contract/operations.ts'

/** The figures and charts of the operations page. */

/** A figure: its name, its number, null without observations, its meaning, and whether it is a rate. */
export type Figure = readonly [name: string, value: number | null, meaning: string, as?: 'rate']

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
  /** The lines of each chart, by its title. */
  readonly charts: Readonly<Record<string, readonly ChartLine[]>>
  readonly figures: (report: OperationsReport) => readonly Figure[]
}

export const areas: readonly Area[] = [
  {
    heading: 'Model',
    scope: 'window',
    intro: 'Turns answered by a model, and the tokens they used.',
    charts: {
      Turns: [
        ['turns', 'Completed', 'accent'],
        ['turnFailures', 'Failed', 'danger'],
      ],
      Tokens: [
        ['inputTokens', 'Input', 'accent'],
        ['cachedTokens', 'Cached input', 'faint'],
        ['outputTokens', 'Output', 'success'],
      ],
    },
    figures: ({ model }) => [
      ['Turns', model.turns, 'Messages and signals that were fully answered.'],
      ['Failed turns', model.failures, 'Turns that failed. Turns that you stopped do not count.'],
      ['Input tokens', model.inputTokens, 'Tokens sent to the model.'],
      ['Cached tokens', model.cachedTokens, 'Input tokens that the service had cached, which cost less.'],
      ['Output tokens', model.outputTokens, 'Tokens written by the model, including its reasoning.'],
    ],
  },
  {
    heading: 'Context',
    scope: 'window',
    intro: 'How the conversation is kept within the limits of the model.',
    charts: {
      'Summaries and compactions': [
        ['capsulesWritten', 'Summaries', 'accent'],
        ['automaticCompactions', 'Compactions', 'success'],
        ['manualCompactionFailures', 'Failed on request', 'danger'],
      ],
    },
    figures: ({ context }) => [
      ['Measurements', context.usage.records, 'Records of the context size, one per turn.'],
      ['Summaries', context.capsule.written, 'Summaries from which any model can continue the conversation.'],
      ['Compactions', context.automaticCompactions, 'Automatic compactions of a full context.'],
      ['Compactions on request', context.manualCompaction.attempts, 'Compactions that you requested.'],
      [
        'Failed on request',
        context.manualCompaction.failures,
        'Requested compactions that failed. The context was unchanged.',
      ],
      [
        'Success rate',
        context.manualCompaction.successRate,
        'Share of requested compactions that succeeded.',
        'rate',
      ],
    ],
  },
  {
    heading: 'Task delivery',
    scope: 'window',
    intro: 'How task outcomes reached you, on every channel.',
    charts: {
      Attempts: [
        ['deliveryAttempts', 'Attempts', 'faint'],
        ['deliverySuccesses', 'Delivered', 'success'],
        ['deliveryFailedAttempts', 'Failed', 'danger'],
      ],
    },
    figures: ({ copilotDelivery }) => [
      ['Attempts', copilotDelivery.attempts, 'Outcomes sent, including retries.'],
      ['Delivered', copilotDelivery.successes, 'Attempts that reached you.'],
      [
        'Failed attempts',
        copilotDelivery.failedAttempts,
        'Refused, unconfirmed, or interrupted when Delegate stopped.',
      ],
      ['Retries', copilotDelivery.retriedAttempts, 'Attempts after the first one of a delivery.'],
      [
        'Failed deliveries',
        copilotDelivery.finalFailures,
        'Deliveries that failed for good and fell back to the chat.',
      ],
      ['Success rate', copilotDelivery.attemptSuccessRate, 'Share of attempts that reached you.', 'rate'],
      ['Retry rate', copilotDelivery.retryRate, 'Share of attempts that were retries.', 'rate'],
    ],
  },
  {
    heading: 'Text messages',
    scope: 'window',
    intro: 'Texts handed to the provider. A failed text is retried for a day.',
    charts: {
      Attempts: [
        ['textAttempts', 'Attempts', 'faint'],
        ['textFailedAttempts', 'Failed', 'danger'],
      ],
    },
    figures: ({ texts }) => [
      ['Attempts', texts.attempts, 'Texts handed to the provider, including retries.'],
      ['Failed attempts', texts.failedAttempts, 'The provider refused the text or did not respond.'],
      ['Not sent', texts.notSent, 'Texts that failed for good, or may not have been sent.'],
    ],
  },
  {
    heading: 'Memory',
    scope: 'window',
    intro: 'Memories that were recalled for turns, and those held back.',
    charts: {
      Recall: [
        ['memoriesSurfaced', 'Recalled', 'accent'],
        ['memoriesSuppressed', 'Held back', 'faint'],
      ],
    },
    figures: ({ memory }) => [
      ['Recalled', memory.surfaced, 'Memories given to a turn.'],
      ['Held back', memory.suppressed, 'Memories found but not used: already known, irrelevant or too late.'],
      [
        'Late, used',
        memory.lateResults.surfaced,
        'Found after their turn started, and given to the next turn.',
      ],
      ['Late, duplicate', memory.lateResults.duplicate, 'Found late, when already in the conversation.'],
      ['Late, irrelevant', memory.lateResults.irrelevant, 'Found late, when the conversation had moved on.'],
      ['Late, expired', memory.lateResults.expired, 'Found too late for any turn.'],
    ],
  },
  {
    heading: 'Strangers',
    scope: 'window',
    intro: 'Texts and calls from strangers above the daily limit. Counted, not recorded.',
    charts: {
      'Above the limit': [
        ['textsOverBudget', 'Texts', 'accent'],
        ['callsOverBudget', 'Calls', 'danger'],
      ],
    },
    figures: ({ guests }) => [
      ['Texts above the limit', guests.textsOverBudget, 'Not answered and not stored.'],
      ['Calls above the limit', guests.callsOverBudget, 'Callers were asked to try again tomorrow.'],
    ],
  },
  {
    heading: 'Learning',
    scope: 'process_runtime',
    intro: 'What happened to each statement that might become a memory.',
    charts: {},
    figures: ({ memory }) => [
      ['Candidates', memory.deduplication.candidates, 'Statements considered.'],
      ['New', memory.deduplication.inserted, 'Stored as a new memory.'],
      ['Reinforced', memory.deduplication.reinforced, 'Already known: the memory got stronger.'],
      ['Merged', memory.deduplication.merged, 'Added to an existing memory.'],
      ['Discarded', memory.deduplication.discarded, 'Not worth remembering.'],
      ['Suppressed', memory.deduplication.suppressed, 'Blocked because you asked to forget them.'],
    ],
  },
  {
    heading: 'Timeline paging',
    scope: 'process_runtime',
    intro: 'How browsers and other clients read the timeline.',
    charts: {},
    figures: ({ timelinePaging }) => [
      ['Newest pages', timelinePaging.initialPageRequests, 'Requests for the newest page.'],
      ['Older pages', timelinePaging.olderPageRequests, 'Requests for an older page.'],
      ['Events sent', timelinePaging.eventsSent, 'Events in all pages.'],
      ['Added events', timelinePaging.expandedEvents, 'Events added to pages to keep exchanges whole.'],
      ['Largest page', timelinePaging.maxPageEvents, 'Number of events in the largest page.'],
    ],
  },
]
