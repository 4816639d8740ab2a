import * as z from 'zod'
import { countSchema, defineEvent, idSchema } from '../define-event.ts'

const source = z.enum(['owner', 'delegate'])

/** Each note and its revisions. A revision that keeps a field refers to the one that last wrote it. */
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
  /** Revision `restoredRevision` is the current text again, as revision `revision`. */
  'note.restored': defineEvent({
    facts: { noteId: idSchema, revision: countSchema, restoredRevision: countSchema, source },
  }),
}
