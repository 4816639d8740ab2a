import { z } from '@hono/zod-openapi'
import { answer, body, tagged } from './describe.ts'
import { integerParam } from './list-query.ts'

const { get, post } = tagged('Money')

const micros = z.int().min(0).describe('Millionths of a US dollar')
const sums = z.array(z.object({ name: z.string(), micros })).describe('The largest first')
const price = z.number().min(0)
const modelPrice = z
  .object({
    input: price,
    cachedInput: price.optional(),
    output: price,
    audioInput: price.optional(),
    audioOutput: price.optional(),
    minute: price.optional(),
  })
  .nullable()

const spendingSchema = z
  .object({
    windows: z
      .array(
        z.object({
          window: z.enum(['day', 'month']).describe('The last 24 hours, the last 30 days'),
          spentMicros: micros.describe('Spent and reserved'),
          limitMicros: micros.describe('The allowance, with what was allowed in addition'),
        }),
      )
      .readonly(),
    reservedMicros: micros.describe('Reserved for requests in progress, or left so by a crash'),
    days: z.array(z.object({ date: z.string(), micros })).describe("The owner's days, oldest first"),
    purposes: sums,
    channels: sums,
    prices: z.object({
      models: z.array(
        z.object({
          model: z.string(),
          inUse: z.boolean().describe('Whether a model service is used with it'),
          listed: modelPrice.describe('The price of the built-in list; null if it has none'),
          price: modelPrice.describe('US dollars for a million tokens or a minute; null if unknown'),
        }),
      ),
      callMinute: price,
      relayMinute: price,
      textSegment: price,
    }),
  })
  .openapi('Spending')

export type Spending = z.output<typeof spendingSchema>

export const spending = get('/api/spending', {
  summary: 'Get what was spent, by day, channel and purpose, and the prices in force',
  request: { query: z.object({ days: integerParam(1, 90).default(30) }) },
  responses: answer(spendingSchema, 'Spending', 400),
})

export const raise = post('/api/allowance/raise', {
  summary: 'Allow more for the next 24 hours',
  request: {
    body: body(
      z.object({
        amountMicros: z
          .int()
          .min(1)
          .max(1_000_000_000)
          .optional()
          .describe('Millionths of a US dollar; another daily allowance by default'),
      }),
    ),
  },
  responses: answer(spendingSchema, 'Spending', 400),
})
