/** What the operations page shows: each figure with what it means, each chart with what it draws. */

export type Figure = {
  /** Where it stands in the report. */
  readonly path: string
  readonly name: string
  /** What it counts, for somebody who has not read the code. */
  readonly meaning: string
  readonly as?: 'rate'
}

export type ChartLine = { readonly metric: string; readonly label: string; readonly tone: Tone }
export type Tone = 'accent' | 'success' | 'danger' | 'faint'

export type Area = {
  readonly heading: string
  /** Counted from the ledger for the window, or since the process began. */
  readonly scope: 'window' | 'process_runtime'
  readonly intro: string
  readonly charts: readonly { readonly title: string; readonly lines: readonly ChartLine[] }[]
  readonly figures: readonly Figure[]
}

export const areas: readonly Area[] = [
  {
    heading: 'Model',
    scope: 'window',
    intro: 'Turns that a model answered, and what they took.',
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
          { metric: 'inputTokens', label: 'Given', tone: 'accent' },
          { metric: 'cachedTokens', label: 'Of these from the cache', tone: 'faint' },
          { metric: 'outputTokens', label: 'Written', tone: 'success' },
        ],
      },
    ],
    figures: [
      { path: 'model.turns', name: 'Turns', meaning: 'Messages and signals that were answered to the end.' },
      {
        path: 'model.failures',
        name: 'Failed turns',
        meaning: 'Turns that came to nothing; those that you stopped are not among them.',
      },
      { path: 'model.inputTokens', name: 'Tokens given', meaning: 'What the model was given to read.' },
      {
        path: 'model.cachedTokens',
        name: 'From the cache',
        meaning: 'Tokens given that the service had read before, which cost less.',
      },
      {
        path: 'model.outputTokens',
        name: 'Tokens written',
        meaning: 'What the model wrote, its reasoning included.',
      },
    ],
  },
  {
    heading: 'Context',
    scope: 'window',
    intro: 'How the conversation is kept within what a model can read.',
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
        meaning: 'Times that the size of the context was recorded: once a turn.',
      },
      {
        path: 'context.capsule.written',
        name: 'Summaries',
        meaning: 'Summaries of the conversation from which any model can go on.',
      },
      {
        path: 'context.automaticCompactions',
        name: 'Compactions',
        meaning: 'Times that the context had grown full and was made shorter by itself.',
      },
      {
        path: 'context.manualCompaction.attempts',
        name: 'Compactions on request',
        meaning: 'Times that you asked for it.',
      },
      {
        path: 'context.manualCompaction.failures',
        name: 'Failed on request',
        meaning: 'Of these, those that failed; the context stayed as it was.',
      },
      {
        path: 'context.manualCompaction.successRate',
        name: 'Success rate',
        meaning: 'Compactions on request that succeeded, of all asked for.',
        as: 'rate',
      },
    ],
  },
  {
    heading: 'Delivery of tasks',
    scope: 'window',
    intro: 'How the outcomes of tasks reached you, on every channel.',
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
      { path: 'copilotDelivery.attempts', name: 'Attempts', meaning: 'Times that an outcome was sent off.' },
      {
        path: 'copilotDelivery.successes',
        name: 'Delivered',
        meaning: 'Attempts after which it had reached you.',
      },
      {
        path: 'copilotDelivery.failedAttempts',
        name: 'Failed attempts',
        meaning: 'Refused, not confirmed, or cut off when Delegate stopped.',
      },
      {
        path: 'copilotDelivery.retriedAttempts',
        name: 'Repeated attempts',
        meaning: 'Attempts that were not the first of their delivery.',
      },
      {
        path: 'copilotDelivery.finalFailures',
        name: 'Given up',
        meaning: 'Deliveries that failed for good; the chat then steps in.',
      },
      {
        path: 'copilotDelivery.attemptSuccessRate',
        name: 'Success rate',
        meaning: 'Delivered, of all attempts.',
        as: 'rate',
      },
      {
        path: 'copilotDelivery.retryRate',
        name: 'Retry rate',
        meaning: 'Repeated attempts, of all attempts.',
        as: 'rate',
      },
    ],
  },
  {
    heading: 'Text messages',
    scope: 'window',
    intro: 'How texts left for the provider. One that fails is retried for a day.',
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
      { path: 'texts.attempts', name: 'Attempts', meaning: 'Times that a text was handed to the provider.' },
      {
        path: 'texts.failedAttempts',
        name: 'Failed attempts',
        meaning: 'The provider refused the text, or did not answer.',
      },
      { path: 'texts.notSent', name: 'Not sent', meaning: 'Texts that were given up, or may not have left.' },
    ],
  },
  {
    heading: 'Memory',
    scope: 'window',
    intro: 'What was recalled for turns, and what was held back.',
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
      { path: 'memory.surfaced', name: 'Recalled', meaning: 'Memories that a turn was given.' },
      {
        path: 'memory.suppressed',
        name: 'Held back',
        meaning: 'Memories that were found and not given: known already, beside the point, or too late.',
      },
      {
        path: 'memory.lateResults.surfaced',
        name: 'Late, still given',
        meaning: 'Found after their turn had begun, and given to the next.',
      },
      {
        path: 'memory.lateResults.duplicate',
        name: 'Late, known',
        meaning: 'Found late, and in the conversation by then.',
      },
      {
        path: 'memory.lateResults.irrelevant',
        name: 'Late, beside the point',
        meaning: 'Found late, when the conversation had moved on.',
      },
      {
        path: 'memory.lateResults.expired',
        name: 'Late, expired',
        meaning: 'Found so late that no turn could use them.',
      },
    ],
  },
  {
    heading: 'Strangers',
    scope: 'window',
    intro: 'Texts and calls of strangers beyond the daily limit. They are counted, not recorded.',
    charts: [
      {
        title: 'Beyond the limit',
        lines: [
          { metric: 'textsOverBudget', label: 'Texts', tone: 'accent' },
          { metric: 'callsOverBudget', label: 'Calls', tone: 'danger' },
        ],
      },
    ],
    figures: [
      {
        path: 'guests.textsOverBudget',
        name: 'Texts beyond the limit',
        meaning: 'Neither answered nor kept.',
      },
      {
        path: 'guests.callsOverBudget',
        name: 'Calls beyond the limit',
        meaning: 'Asked to try again tomorrow.',
      },
    ],
  },
  {
    heading: 'What memory learned',
    scope: 'process_runtime',
    intro: 'What became of each thing that might be remembered.',
    charts: [],
    figures: [
      {
        path: 'memory.deduplication.candidates',
        name: 'Candidates',
        meaning: 'Things that might be remembered.',
      },
      { path: 'memory.deduplication.inserted', name: 'New', meaning: 'Kept as a memory of their own.' },
      {
        path: 'memory.deduplication.reinforced',
        name: 'Reinforced',
        meaning: 'Known already: the memory grew stronger.',
      },
      {
        path: 'memory.deduplication.merged',
        name: 'Merged',
        meaning: 'Joined to a memory that they add to.',
      },
      { path: 'memory.deduplication.discarded', name: 'Discarded', meaning: 'Not worth remembering.' },
      {
        path: 'memory.deduplication.suppressed',
        name: 'Suppressed',
        meaning: 'Barred, because you had them forgotten.',
      },
    ],
  },
  {
    heading: 'Paging of the timeline',
    scope: 'process_runtime',
    intro: 'How the timeline was read by browsers and clients.',
    charts: [],
    figures: [
      {
        path: 'timelinePaging.initialPageRequests',
        name: 'Newest pages',
        meaning: 'Times that the timeline was opened.',
      },
      {
        path: 'timelinePaging.olderPageRequests',
        name: 'Older pages',
        meaning: 'Times that somebody went further back.',
      },
      { path: 'timelinePaging.eventsSent', name: 'Events sent', meaning: 'Events in all these pages.' },
      {
        path: 'timelinePaging.expandedEvents',
        name: 'Beyond the page',
        meaning: 'Events that pages grew by, so that nothing that belongs together is cut.',
      },
      {
        path: 'timelinePaging.maxPageEvents',
        name: 'Largest page',
        meaning: 'Events in the largest page so far.',
      },
    ],
  },
]
