import * as z from 'zod'
import { countSchema, defineEvent, idSchema, timeSchema, wordSchema } from '../define-event.ts'

const party = z.enum(['owner', 'guest'])

/** Texts, and whether they arrived. Each provider message id occurs once, as the event's key. */
export const smsEvents = {
  'sms.received': defineEvent({
    facts: {
      messageSid: idSchema,
      party,
      segments: countSchema,
      mediaTypes: z.array(z.string().max(100)),
      /** Whether to reply through the provider's REST API or in the webhook's response. */
      replyBy: z.enum(['rest', 'markup']),
    },
    body: { from: z.string(), to: z.string(), text: z.string() },
  }),
  /** Received, and deliberately not answered by the delegate. `halt`: the owner's keyword. */
  'sms.ignored': defineEvent({
    facts: {
      messageSid: idSchema,
      party,
      reason: z.enum(['opt_out', 'opt_in', 'help', 'budget', 'empty', 'halt', 'opted_out', 'unreachable']),
    },
    body: { from: z.string(), text: z.string() },
  }),
  'sms.sent': defineEvent({
    facts: { messageSid: idSchema.nullable(), deliveryId: idSchema.optional(), party, segments: countSchema },
    body: { to: z.string(), text: z.string() },
  }),
  'sms.failed': defineEvent({
    facts: {
      deliveryId: idSchema.optional(),
      party,
      kind: z.enum([
        'refused',
        'opted_out',
        'rate_limited',
        'unavailable',
        'not_configured',
        'budget',
        'unknown',
        'credentials',
        'halted',
      ]),
      providerCode: z.int().optional(),
    },
    body: { to: z.string(), text: z.string() },
  }),
  /** Sending fails for now and is retried. Recorded once per outage, for the first delayed text. */
  'sms.delayed': defineEvent({
    facts: {
      deliveryId: idSchema,
      kind: z.enum(['rate_limited', 'unavailable', 'credentials', 'budget']),
      since: timeSchema,
      giveUpAt: timeSchema,
    },
  }),
  /** The provider accepted the text, but its final status says that it did not arrive. */
  'sms.undelivered': defineEvent({
    facts: {
      messageSid: idSchema,
      deliveryId: idSchema.optional(),
      party,
      status: z.enum(['undelivered', 'failed']),
      providerCode: z.int().optional(),
    },
    body: { to: z.string(), text: z.string() },
  }),
  'sms.status.reported': defineEvent({
    internal: true,
    facts: { messageSid: idSchema, status: wordSchema, errorCode: z.int().optional() },
  }),
}
