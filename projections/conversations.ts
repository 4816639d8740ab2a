import { defineProjection } from './projection.ts'

export type ConversationRow = {
  id: string
  startSeq: number
  startedAt: string
  endedAt: string | null
  lastEventAt: string
  eventCount: number
  turnCount: number
  /** Whether each channel was used: 0 or 1. */
  chat: number
  voice: number
  sms: number
}

/** Which conversations there are, and which of them is open. */
export const conversationsProjection = defineProjection({
  name: 'conversations',
  version: 1,
  tables: ['conversations'],
  schema: `
    CREATE TABLE conversations (
      id TEXT PRIMARY KEY, startSeq INTEGER NOT NULL UNIQUE, startedAt TEXT NOT NULL, endedAt TEXT,
      lastEventAt TEXT NOT NULL, eventCount INTEGER NOT NULL DEFAULT 0, turnCount INTEGER NOT NULL DEFAULT 0,
      chat INTEGER NOT NULL DEFAULT 0, voice INTEGER NOT NULL DEFAULT 0, sms INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID, STRICT;
    CREATE INDEX conversations_open ON conversations (startSeq) WHERE endedAt IS NULL;`,
  fold(db) {
    const start = db.prepare(
      'INSERT OR IGNORE INTO conversations (id, startSeq, startedAt, lastEventAt) VALUES (@conversationId, @seq, @at, @at)',
    )
    const touch = db.prepare(
      `UPDATE conversations SET eventCount = eventCount + 1, lastEventAt = @at, turnCount = turnCount + @turn,
        chat = max(chat, @chat), voice = max(voice, @voice), sms = max(sms, @sms) WHERE id = @conversationId`,
    )
    const end = db.prepare('UPDATE conversations SET endedAt = ? WHERE id = ?')
    return {
      every(event) {
        const { seq, conversationId, at, channel, type } = event
        if (conversationId === null) return
        if (type === 'conversation.started') start.run({ conversationId, seq, at })
        touch.run({
          conversationId,
          at,
          turn: type === 'turn.started' ? 1 : 0,
          chat: channel === 'chat' ? 1 : 0,
          voice: channel === 'voice' ? 1 : 0,
          sms: channel === 'sms' ? 1 : 0,
        })
      },
      handlers: {
        'conversation.ended': (event) => void end.run(event.at, event.conversationId),
      },
    }
  },
})
