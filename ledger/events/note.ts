import * as z from 'zod'
import { countSchema, defineEvent, idSchema } from '../define-event.ts'

const source = z.enum(['owner', 'delegate'])

/** Notes and their revisions. An update carries only the changed fields. */
export const noteEvents = {
  'note.created': defineEvent({
    facts: { noteId: idSchema, source },
    body: { title: z.string(), content: z.string().min(1) },
  }),
  'note.updated': defineEvent({
    facts: {
      noteId: idSchema,
      revision: countSchema,
      source,
      changed: z.array(z.enum(['title', 'content'])),
    },
    body: { title: z.string().optional(), content: z.string().min(1).optional() },
  }),
  'note.deleted': defineEvent({ facts: { noteId: idSchema, source } }),
  /** The text of `restoredRevision` becomes current again, as `revision`. */
  'note.restored': defineEvent({
    facts: { noteId: idSchema, revision: countSchema, restoredRevision: countSchema, source },
  }),
}
