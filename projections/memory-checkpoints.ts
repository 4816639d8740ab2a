import { defineProjection } from './projection.ts'

/** How far each conversation was handed to extraction. */
export const memoryCheckpointsProjection = defineProjection({
  name: 'memory_checkpoints',
  version: 1,
  tables: ['memory_checkpoints'],
  schema: `CREATE TABLE memory_checkpoints (seq INTEGER PRIMARY KEY, conversationId TEXT, fromSeq INTEGER NOT NULL,
    toSeq INTEGER NOT NULL) STRICT;
    CREATE INDEX memory_checkpoints_by_conversation ON memory_checkpoints (conversationId, toSeq);`,
  fold(db) {
    const insert = db.prepare('INSERT INTO memory_checkpoints VALUES (?, ?, ?, ?)')
    return {
      handlers: {
        'memory.checkpoint.created': ({ seq, conversationId, facts }) =>
          void insert.run(seq, conversationId, facts.fromSeq, facts.toSeq),
      },
    }
  },
})
