/** The counters of the operations report. */
export const operationMetrics = [
  'turns',
  'turnFailures',
  'inputTokens',
  'outputTokens',
  'cachedTokens',
  /** Input and output tokens of turns that the builtin model answered. They cost nothing. */
  'builtinTokens',
  /** Input and output tokens of failed turns, learning, compaction and capsules. */
  'otherTokens',
  'usageRecords',
  'capsulesWritten',
  'manualCompactionSuccesses',
  'manualCompactionFailures',
  'automaticCompactions',
  'automaticCompactionFailures',
  'deliveryAttempts',
  'deliveryRetries',
  'deliverySuccesses',
  'deliveryFailedAttempts',
  'deliveryFinalFailures',
  /** Includes texts that deliver a task's outcome. */
  'textAttempts',
  'textFailedAttempts',
  /** Given up, with an unknown outcome, or not delivered by the carrier. */
  'textsNotSent',
  'memoriesSurfaced',
  'memoriesSuppressed',
  'lateSurfaced',
  'lateDuplicate',
  'lateIrrelevant',
  'lateExpired',
  /** Guests' texts and calls over the daily budget. */
  'textsOverBudget',
  'callsOverBudget',
] as const
export type OperationMetric = (typeof operationMetrics)[number]
