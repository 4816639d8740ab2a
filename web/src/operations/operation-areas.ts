import type { OperationsReport, OperationsSeries } from '../../../src/http/contract/operations.ts'
import { msg } from '../design/msg.ts'

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
  /** The title and the lines of each chart. */
  readonly charts: readonly (readonly [string, readonly ChartLine[]])[]
  readonly figures: (report: OperationsReport) => readonly Figure[]
}

export const areas: readonly Area[] = [
  {
    heading: msg`Model`,
    scope: 'window',
    intro: msg`Turns answered by a model, and the tokens they used.`,
    charts: [
      [
        msg`Turns`,
        [
          ['turns', msg`Completed`, 'accent'],
          ['turnFailures', msg`Failed`, 'danger'],
        ],
      ],
      [
        msg`Tokens`,
        [
          ['inputTokens', msg`Input`, 'accent'],
          ['cachedTokens', msg`Cached input`, 'faint'],
          ['outputTokens', msg`Output`, 'success'],
        ],
      ],
    ],
    figures: ({ model }) => [
      [msg`Turns`, model.turns, msg`Messages and signals that were fully answered.`],
      [msg`Failed turns`, model.failures, msg`Turns that failed. Turns that you stopped do not count.`],
      [msg`Input tokens`, model.inputTokens, msg`Tokens sent to the model.`],
      [
        msg`Cached tokens`,
        model.cachedTokens,
        msg`Input tokens that the service had cached, which cost less.`,
      ],
      [msg`Output tokens`, model.outputTokens, msg`Tokens written by the model, including its reasoning.`],
    ],
  },
  {
    heading: msg`Context`,
    scope: 'window',
    intro: msg`How the conversation is kept within the limits of the model.`,
    charts: [
      [
        msg`Summaries and compactions`,
        [
          ['capsulesWritten', msg`Summaries`, 'accent'],
          ['automaticCompactions', msg`Compactions`, 'success'],
          ['manualCompactionFailures', msg`Failed on request`, 'danger'],
        ],
      ],
    ],
    figures: ({ context }) => [
      [msg`Measurements`, context.usage.records, msg`Records of the context size, one per turn.`],
      [
        msg`Summaries`,
        context.capsule.written,
        msg`Summaries from which any model can continue the conversation.`,
      ],
      [msg`Compactions`, context.automaticCompactions, msg`Automatic compactions of a full context.`],
      [msg`Compactions on request`, context.manualCompaction.attempts, msg`Compactions that you requested.`],
      [
        msg`Failed on request`,
        context.manualCompaction.failures,
        msg`Requested compactions that failed. The context was unchanged.`,
      ],
      [
        msg`Success rate`,
        context.manualCompaction.successRate,
        msg`Share of requested compactions that succeeded.`,
        'rate',
      ],
    ],
  },
  {
    heading: msg`Task delivery`,
    scope: 'window',
    intro: msg`How task outcomes reached you, on every channel.`,
    charts: [
      [
        msg`Attempts`,
        [
          ['deliveryAttempts', msg`Attempts`, 'faint'],
          ['deliverySuccesses', msg`Delivered`, 'success'],
          ['deliveryFailedAttempts', msg`Failed`, 'danger'],
        ],
      ],
    ],
    figures: ({ copilotDelivery }) => [
      [msg`Attempts`, copilotDelivery.attempts, msg`Outcomes sent, including retries.`],
      [msg`Delivered`, copilotDelivery.successes, msg`Attempts that reached you.`],
      [
        msg`Failed attempts`,
        copilotDelivery.failedAttempts,
        msg`Refused, unconfirmed, or interrupted when Delegate stopped.`,
      ],
      [msg`Retries`, copilotDelivery.retriedAttempts, msg`Attempts after the first one of a delivery.`],
      [
        msg`Failed deliveries`,
        copilotDelivery.finalFailures,
        msg`Deliveries that failed for good and fell back to the chat.`,
      ],
      [
        msg`Success rate`,
        copilotDelivery.attemptSuccessRate,
        msg`Share of attempts that reached you.`,
        'rate',
      ],
      [msg`Retry rate`, copilotDelivery.retryRate, msg`Share of attempts that were retries.`, 'rate'],
    ],
  },
  {
    heading: msg`Text messages`,
    scope: 'window',
    intro: msg`Texts handed to the provider. A failed text is retried for a day.`,
    charts: [
      [
        msg`Attempts`,
        [
          ['textAttempts', msg`Attempts`, 'faint'],
          ['textFailedAttempts', msg`Failed`, 'danger'],
        ],
      ],
    ],
    figures: ({ texts }) => [
      [msg`Attempts`, texts.attempts, msg`Texts handed to the provider, including retries.`],
      [msg`Failed attempts`, texts.failedAttempts, msg`The provider refused the text or did not respond.`],
      [msg`Not sent`, texts.notSent, msg`Texts that failed for good, or may not have been sent.`],
    ],
  },
  {
    heading: msg`Memory`,
    scope: 'window',
    intro: msg`Memories that were recalled for turns, and those held back.`,
    charts: [
      [
        msg`Recall`,
        [
          ['memoriesSurfaced', msg`Recalled`, 'accent'],
          ['memoriesSuppressed', msg`Held back`, 'faint'],
        ],
      ],
    ],
    figures: ({ memory }) => [
      [msg`Recalled`, memory.surfaced, msg`Memories given to a turn.`],
      [
        msg`Held back`,
        memory.suppressed,
        msg`Memories found but not used: already known, irrelevant or too late.`,
      ],
      [
        msg`Late, used`,
        memory.lateResults.surfaced,
        msg`Found after their turn started, and given to the next turn.`,
      ],
      [
        msg`Late, duplicate`,
        memory.lateResults.duplicate,
        msg`Found late, when already in the conversation.`,
      ],
      [
        msg`Late, irrelevant`,
        memory.lateResults.irrelevant,
        msg`Found late, when the conversation had moved on.`,
      ],
      [msg`Late, expired`, memory.lateResults.expired, msg`Found too late for any turn.`],
    ],
  },
  {
    heading: msg`Strangers`,
    scope: 'window',
    intro: msg`Texts and calls from strangers above the daily limit. Counted, not recorded.`,
    charts: [
      [
        msg`Above the limit`,
        [
          ['textsOverBudget', msg`Texts`, 'accent'],
          ['callsOverBudget', msg`Calls`, 'danger'],
        ],
      ],
    ],
    figures: ({ guests }) => [
      [msg`Texts above the limit`, guests.textsOverBudget, msg`Not answered and not stored.`],
      [msg`Calls above the limit`, guests.callsOverBudget, msg`Callers were asked to try again tomorrow.`],
    ],
  },
  {
    heading: msg`Timeline paging`,
    scope: 'process_runtime',
    intro: msg`How browsers and other clients read the timeline.`,
    charts: [],
    figures: ({ timelinePaging }) => [
      [msg`Newest pages`, timelinePaging.initialPageRequests, msg`Requests for the newest page.`],
      [msg`Older pages`, timelinePaging.olderPageRequests, msg`Requests for an older page.`],
      [msg`Events sent`, timelinePaging.eventsSent, msg`Events in all pages.`],
      [msg`Added events`, timelinePaging.expandedEvents, msg`Events added to pages to keep exchanges whole.`],
      [msg`Largest page`, timelinePaging.maxPageEvents, msg`Number of events in the largest page.`],
    ],
  },
]
