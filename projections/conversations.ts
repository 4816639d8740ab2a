import { defineProjection } from './projection.ts'

export type ConversationTable = {
  id: string
  startSeq: number
  startedAt: string
  endedAt: string | null
  turnCount: number
  /** Whether each channel was used: 0 or 1. */
  chat: number
  voice: number
  sms: number
}

/** Joined with data from the timeline. */
export type ConversationRow = ConversationTable & { lastEventAt: string; eventCount: number }

const CHANNELS: readonly (string | null)[] = ['chat', 'voice', 'sms']

/** All conversations. The timeline keeps what changes with every event: counts and times. */
export const conversationsProjection = defineProjection({
  name: 'conversations',
  version: 2,
  tables: ['conversations'],
  schema: `
    CREATE TABLE conversations (
      id TEXT PRIMARY KEY, startSeq INTEGER NOT NULL UNIQUE, startedAt TEXT NOT NULL, endedAt TEXT,
      turnCount INTEGER NOT NULL DEFAULT 0,
      chat INTEGER NOT NULL DEFAULT 0, voice INTEGER NOT NULL DEFAULT 0, sms INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID, STRICT;
    CREATE INDEX conversations_open ON conversations (startSeq) WHERE endedAt IS NULL;`,
  fold(db) {
    const start = db.prepare('INSERT OR IGNORE INTO conversations (id, startSeq, startedAt) VALUES (?, ?, ?)')
    const use = new Map(
      CHANNELS.map((channel) => [
        channel,
        db.prepare(`UPDATE conversations SET ${channel} = 1 WHERE id = ? AND ${channel} = 0`),
      ]),
    )
    const countTurn = db.prepare('UPDATE conversations SET turnCount = turnCount + 1 WHERE id = ?')
    const end = db.prepare('UPDATE conversations SET endedAt = ? WHERE id = ?')
    /** The last conversation marked per channel, to skip redundant writes. */
    const lastOn = new Map<string | null, string>()
    return {
      every({ seq, conversationId, at, channel, type }) {
        if (conversationId === null) return
        if (type === 'conversation.started') {
          start.run(conversationId, seq, at)
          lastOn.clear()
        }
        if (lastOn.get(channel) === conversationId) return
        use.get(channel)?.run(conversationId)
        lastOn.set(channel, conversationId)
      },
      discard: () => lastOn.clear(),
      handlers: {
        'turn.started': (event) => void countTurn.run(event.conversationId),
        'conversation.ended': (event) => void end.run(event.at, event.conversationId),
      },
    }
  },
})
