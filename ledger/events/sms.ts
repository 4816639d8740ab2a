import * as z from 'zod'
import { countSchema, defineEvent, idSchema, timeSchema, wordSchema } from '../define-event.ts'

const party = z.enum(['owner', 'guest'])

/** What was texted, and whether it arrived. Each provider message id occurs once (the event's key). */
export const smsEvents = {
  'sms.received': defineEvent({
    facts: {
      messageSid: idSchema,
      party,
      segments: countSchema,
      mediaTypes: z.array(z.string().max(100)),
      /** How the reply leaves: by the provider's REST API, or in the answer to the webhook. */
      replyBy: z.enum(['rest', 'markup']),
    },
    body: { from: z.string(), to: z.string(), text: z.string() },
  }),
  /** Received, and on purpose not answered. */
  'sms.ignored': defineEvent({
    facts: { messageSid: idSchema, party, reason: z.enum(['opt_out', 'opt_in', 'help', 'budget', 'empty']) },
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
      ]),
      providerCode: z.int().optional(),
    },
    body: { to: z.string(), text: z.string() },
  }),
  /** Texts cannot be sent for now, and are retried. Reported once for an outage, with the first text that it delays. */
  'sms.delayed': defineEvent({
    facts: {
      deliveryId: idSchema,
      kind: z.enum(['rate_limited', 'unavailable', 'credentials', 'budget']),
      since: timeSchema,
      giveUpAt: timeSchema,
    },
  }),
  /** Taken by the provider, and then not brought to the phone: what its statuses said at last. */
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
