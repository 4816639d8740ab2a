import { z } from '@hono/zod-openapi'
import { operationMetrics } from '../../../projections/operation-metrics.ts'
import { tokenCounts } from './chat.ts'
import { answer, tagged } from './describe.ts'
import { integerParam } from './list-query.ts'
import { deduplicationCounts } from './memories.ts'

const { get } = tagged('Session')

const hoursQuery = { query: z.object({ hours: integerParam(1, 720).default(24) }) }
const windowSchema = z.object({ hours: z.int(), from: z.string(), to: z.string() })
const inWindow = z.literal('window')
const sinceStart = { scope: z.literal('process_runtime'), since: z.string() }
const rate = z.number().min(0).max(1).nullable().describe('0..1; null without observations')

const reportSchema = z
  .object({
    window: windowSchema,
    context: z.object({
      scope: inWindow,
      usage: z.object({ records: z.int(), ...tokenCounts }),
      capsule: z.object({ written: z.int(), active: z.boolean(), updatedAt: z.string().nullable() }),
      manualCompaction: z.object({
        attempts: z.int(),
        successes: z.int(),
        failures: z.int(),
        successRate: rate,
      }),
      automaticCompactions: z.int(),
    }),
    copilotDelivery: z.object({
      scope: inWindow,
      attempts: z.int(),
      successes: z.int(),
      failedAttempts: z.int(),
      retriedAttempts: z.int(),
      finalFailures: z.int(),
      attemptSuccessRate: rate,
      retryRate: rate,
    }),
    texts: z.object({
      scope: inWindow,
      attempts: z.int(),
      failedAttempts: z.int(),
      notSent: z.int().describe('Given up, with an unknown outcome, or not delivered by the carrier'),
    }),
    timelinePaging: z.object({
      ...sinceStart,
      initialPageRequests: z.int(),
      olderPageRequests: z.int(),
      eventsSent: z.int(),
      expandedEvents: z.int(),
      maxPageEvents: z.int(),
    }),
    memory: z.object({
      scope: inWindow,
      surfaced: z.int(),
      suppressed: z.int(),
      lateResults: z.object({
        surfaced: z.int(),
        duplicate: z.int(),
        irrelevant: z.int(),
        expired: z.int(),
      }),
      deduplication: z.object({ scope: sinceStart.scope, ...deduplicationCounts }),
    }),
    guests: z.object({ scope: inWindow, textsOverBudget: z.int(), callsOverBudget: z.int() }),
    model: z.object({ scope: inWindow, turns: z.int(), failures: z.int(), ...tokenCounts }),
  })
  .openapi('OperationsReport')

export type OperationsReport = z.output<typeof reportSchema>

export const report = get('/api/session/operations', {
  summary: 'Get counts and rates for context, delivery, paging, memory and model',
  request: hoursQuery,
  responses: answer(reportSchema, 'Counts and rates only', 400),
})

const seriesSchema = z
  .object({
    window: windowSchema,
    grain: z.enum(['minute', 'hour', 'day']),
    points: z.array(
      z.object({
        at: z.string().describe('Start of the minute, hour or day'),
        counts: z.partialRecord(z.enum(operationMetrics), z.int()).describe('Counts of zero are absent'),
      }),
    ),
  })
  .openapi('OperationsSeries')

export type OperationsSeries = z.output<typeof seriesSchema>

export const series = get('/api/session/operations/series', {
  summary: 'Get the windowed figures over time, by minute, hour or day depending on the window',
  request: hoursQuery,
  responses: answer(seriesSchema, 'Counts only', 400),
})
