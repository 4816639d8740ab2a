import { z } from '@hono/zod-openapi'
import { tokenCounts } from './chat.ts'
import { answer, tagged } from './describe.ts'

const { get, post } = tagged('Session')

const contextSchema = z
  .object({
    active: z.boolean(),
    canCompact: z.boolean(),
    channel: z.string().nullable(),
    ...tokenCounts,
    compactThresholdTokens: z.int(),
    thresholdUtilization: z.number(),
    usageRecordedAt: z.string().nullable(),
    compactionInFlight: z.boolean(),
    replacementRetained: z.boolean(),
    latestCompaction: z
      .object({
        at: z.string(),
        source: z.enum(['manual', 'automatic']),
        channel: z.string().nullable(),
        inputTokensBefore: z.int(),
        inputTokensAfter: z.int(),
      })
      .nullable(),
    capsule: z.object({
      active: z.boolean(),
      source: z.string().nullable(),
      updatedAt: z.string().nullable(),
      throughSeq: z.int().nullable(),
    }),
  })
  .openapi('SessionContext')

export type SessionContext = z.output<typeof contextSchema>

export const context = get('/api/session/context', {
  summary: 'Get the state of the context that the next turn continues from',
  responses: answer(contextSchema, 'The context'),
})

export const compact = post('/api/session/context/compact', {
  summary: 'Compact the context now',
  responses: answer(contextSchema, 'The compacted context', 409, 502),
})

const modelSchema = z.object({ provider: z.string(), model: z.string() })

const turnSchema = z
  .object({
    turnId: z.string(),
    channel: z.string().nullable(),
    status: z.enum(['waiting', 'running', 'completed', 'failed', 'stopped']),
    startedAt: z.string().nullable(),
    completedAt: z.string().nullable(),
    model: modelSchema.nullable().describe('The model that answered'),
    failedModels: z
      .array(z.object({ model: modelSchema, kind: z.string() }))
      .readonly()
      .describe('The models that failed before it, in order, and why'),
    memories: z
      .array(
        z.object({
          id: z.string(),
          text: z.string().nullable(),
          late: z.boolean(),
          current: z.literal(false).optional().describe('The memory no longer applies'),
          replacedBy: z
            .object({ id: z.string(), text: z.string(), at: z.string() })
            .optional()
            .describe('What applies in its place, and since when'),
        }),
      )
      .readonly(),
    suppressed: z.array(z.object({ id: z.string(), reason: z.string() })).readonly(),
    signals: z.array(z.object({ id: z.string(), kind: z.string(), text: z.string().nullable() })).readonly(),
    adaptations: z.array(z.string()).readonly(),
    tools: z
      .array(
        z.object({
          callId: z.string(),
          tool: z.string(),
          arguments: z.string().nullable(),
          outcome: z.string().nullable(),
          result: z.string().nullable(),
          durationMs: z.number().nullable(),
        }),
      )
      .readonly(),
    foreign: z
      .array(z.object({ seq: z.int(), type: z.string(), tool: z.string().nullable() }))
      .readonly()
      .nullable()
      .openapi({
        description:
          'The facts with words of others that the turn was given: the latest 50. Null if that is not known.',
      }),
    leftOut: z
      .object({
        contextTokens: z.int(),
        messages: z.int(),
        instructions: z.int(),
        shortened: z.int(),
      })
      .nullable()
      .openapi({
        description:
          'How many messages and standing instructions did not fit into the context of the model, and of how many items it was given only a part. Null if nothing was left out.',
      }),
    usage: z.object(tokenCounts),
    costMicros: z
      .int()
      .nullable()
      .describe('What the reply cost in millionths of a US dollar, 0 if the model is free, null if unknown'),
  })
  .openapi('TurnReport')

export type TurnReport = z.output<typeof turnSchema>

export const turn = get('/api/turns/{id}', {
  summary: 'Explain a reply: what the turn was given and what it did',
  request: { params: z.object({ id: z.string() }) },
  responses: answer(turnSchema, 'The turn', 404),
})
