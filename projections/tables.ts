import type { ConversationRow } from './conversations.ts'
import type { NoteRevisionRow, NoteRow } from './notes.ts'

/** The tables that are queried through Kysely, typed by the projection that owns each. */
export type ViewsTables = {
  conversations: ConversationRow
  notes: NoteRow
  note_revisions: NoteRevisionRow
  timeline: { seq: number; spanStart: number; conversationStart: number }
  timeline_spans: {
    spanId: string
    startSeq: number
    conversationId: string | null
    kind: string | null
    startedAt: string
    endedAt: string | null
    reason: string | null
  }
}
