/** The figures and charts of the operations page. */

export type Figure = {
  /** Path in the operations report. */
  readonly path: string
  readonly name: string
  readonly meaning: string
  readonly as?: 'rate'
}

export type ChartLine = { readonly metric: string; readonly label: string; readonly tone: Tone }
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
      { path: 'model.turns', name: 'Turns', meaning: 'Messages and signals that were fully answered.' },
      {
        path: 'model.failures',
        name: 'Failed turns',
        meaning: 'Turns that failed. Turns that you stopped do not count.',
      },
      { path: 'model.inputTokens', name: 'Input tokens', meaning: 'Tokens sent to the model.' },
      {
        path: 'model.cachedTokens',
        name: 'Cached tokens',
        meaning: 'Input tokens that the service had cached, which cost less.',
      },
      {
        path: 'model.outputTokens',
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
        path: 'context.usage.records',
        name: 'Measurements',
        meaning: 'Records of the context size, one per turn.',
      },
      {
        path: 'context.capsule.written',
        name: 'Summaries',
        meaning: 'Summaries from which any model can continue the conversation.',
      },
      {
        path: 'context.automaticCompactions',
        name: 'Compactions',
        meaning: 'Automatic compactions of a full context.',
      },
      {
        path: 'context.manualCompaction.attempts',
        name: 'Compactions on request',
        meaning: 'Compactions that you requested.',
      },
      {
        path: 'context.manualCompaction.failures',
        name: 'Failed on request',
        meaning: 'Requested compactions that failed. The context was unchanged.',
      },
      {
        path: 'context.manualCompaction.successRate',
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
      { path: 'copilotDelivery.attempts', name: 'Attempts', meaning: 'Outcomes sent, including retries.' },
      { path: 'copilotDelivery.successes', name: 'Delivered', meaning: 'Attempts that reached you.' },
      {
        path: 'copilotDelivery.failedAttempts',
        name: 'Failed attempts',
        meaning: 'Refused, unconfirmed, or interrupted when Delegate stopped.',
      },
      {
        path: 'copilotDelivery.retriedAttempts',
        name: 'Retries',
        meaning: 'Attempts after the first one of a delivery.',
      },
      {
        path: 'copilotDelivery.finalFailures',
        name: 'Failed deliveries',
        meaning: 'Deliveries that failed for good and fell back to the chat.',
      },
      {
        path: 'copilotDelivery.attemptSuccessRate',
        name: 'Success rate',
        meaning: 'Share of attempts that reached you.',
        as: 'rate',
      },
      {
        path: 'copilotDelivery.retryRate',
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
        path: 'texts.attempts',
        name: 'Attempts',
        meaning: 'Texts handed to the provider, including retries.',
      },
      {
        path: 'texts.failedAttempts',
        name: 'Failed attempts',
        meaning: 'The provider refused the text or did not respond.',
      },
      {
        path: 'texts.notSent',
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
      { path: 'memory.surfaced', name: 'Recalled', meaning: 'Memories given to a turn.' },
      {
        path: 'memory.suppressed',
        name: 'Held back',
        meaning: 'Memories found but not used: already known, irrelevant or too late.',
      },
      {
        path: 'memory.lateResults.surfaced',
        name: 'Late, used',
        meaning: 'Found after their turn started, and given to the next turn.',
      },
      {
        path: 'memory.lateResults.duplicate',
        name: 'Late, duplicate',
        meaning: 'Found late, when already in the conversation.',
      },
      {
        path: 'memory.lateResults.irrelevant',
        name: 'Late, irrelevant',
        meaning: 'Found late, when the conversation had moved on.',
      },
      {
        path: 'memory.lateResults.expired',
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
        path: 'guests.textsOverBudget',
        name: 'Texts above the limit',
        meaning: 'Not answered and not stored.',
      },
      {
        path: 'guests.callsOverBudget',
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
        path: 'memory.deduplication.candidates',
        name: 'Candidates',
        meaning: 'Statements considered.',
      },
      { path: 'memory.deduplication.inserted', name: 'New', meaning: 'Stored as a new memory.' },
      {
        path: 'memory.deduplication.reinforced',
        name: 'Reinforced',
        meaning: 'Already known: the memory got stronger.',
      },
      {
        path: 'memory.deduplication.merged',
        name: 'Merged',
        meaning: 'Added to an existing memory.',
      },
      { path: 'memory.deduplication.discarded', name: 'Discarded', meaning: 'Not worth remembering.' },
      {
        path: 'memory.deduplication.suppressed',
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
        path: 'timelinePaging.initialPageRequests',
        name: 'Newest pages',
        meaning: 'Requests for the newest page.',
      },
      {
        path: 'timelinePaging.olderPageRequests',
        name: 'Older pages',
        meaning: 'Requests for an older page.',
      },
      { path: 'timelinePaging.eventsSent', name: 'Events sent', meaning: 'Events in all pages.' },
      {
        path: 'timelinePaging.expandedEvents',
        name: 'Added events',
        meaning: 'Events added to pages to keep exchanges whole.',
      },
      {
        path: 'timelinePaging.maxPageEvents',
        name: 'Largest page',
        meaning: 'Number of events in the largest page.',
      },
    ],
  },
]
