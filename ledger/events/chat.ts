import * as z from 'zod'
import { countSchema, defineEvent, foreignSchema, idSchema, seqSchema } from '../define-event.ts'

const MAX_PASTED_RANGES = 100
const rangeSchema = z.tuple([countSchema, countSchema])

/** What was said in the browser. `turnId` in the envelope ties a message to its reply. */
export const chatEvents = {
  'chat.message.received': defineEvent({
    facts: {
      /** Said to a device rather than typed in the browser, so anybody may have said it. */
      spoken: z.boolean().optional(),
      /** The parts of the text that were pasted: start and end in UTF-16 code units. Anybody may have written them. */
      pasted: z.array(rangeSchema).max(MAX_PASTED_RANGES).optional(),
      /** The model that the owner chose for this message: the id of its service, and its name there. */
      model: z.strictObject({ service: z.string().max(40), model: z.string().max(200) }).optional(),
      /**
       * The message that this one takes the place of, and its turn, which leaves the context. With the same words
       * it asks for another answer.
       */
      replaces: z.strictObject({ turnId: idSchema, seq: seqSchema, sameWords: z.boolean() }).optional(),
    },
    body: { text: z.string().min(1) },
  }),
  /** With a `deliveryId`: not a reply but the delivered outcome of a task. */
  'chat.reply.sent': defineEvent({
    facts: { deliveryId: idSchema.optional(), foreign: foreignSchema },
    body: { text: z.string() },
  }),
  /** The reply ended early; `text` is the part written so far. */
  'chat.reply.stopped': defineEvent({
    facts: {
      foreign: foreignSchema,
      /** The turn failed, and its failure follows. Absent if the owner stopped it. */
      reason: z.enum(['failed']).optional(),
    },
    body: { text: z.string() },
  }),
}
