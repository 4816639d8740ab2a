import type { ConversationTable } from './conversations.ts'
import type { NoteRevisionRow, NoteRow } from './notes.ts'

/** The tables that Kysely queries. */
export type ViewsTables = {
  conversations: ConversationTable
  notes: NoteRow
  note_revisions: NoteRevisionRow
  timeline_runs: {
    firstSeq: number
    lastSeq: number
    lastAt: string
    spanStart: number
    conversationStart: number
    eventsBefore: number
  }
  timeline_conversations: { conversationId: string; startSeq: number }
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
