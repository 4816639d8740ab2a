/** `application_id` of Delegate's SQLite files: "DLGT". */
export const APPLICATION_ID = 0x444c4754
/** Incremented when the tables below change; events have their own version per type. */
export const FORMAT_VERSION = 2
/** Format 1 also has a unique index on `id`. Such ledgers keep it. */
export const READABLE_FORMATS: readonly number[] = [1, 2]

const ID_GUARD = `  SELECT RAISE(ABORT, 'the ledger is append-only: this id exists')
    WHERE EXISTS (SELECT 1 FROM events WHERE id = NEW.id);
`

/**
 * Tables and guards. The guards are triggers, so they hold for any connection. They forbid DELETE, gaps in
 * `seq`, any UPDATE except the erasure that an `erased` fact performs, and any INSERT that would replace a
 * row: REPLACE fires delete triggers only with `recursive_triggers`. In format 2 `id` is not unique, so no
 * REPLACE can match on it. `inspect.ts` compares the stored SQL with this text: never edit it, not even a
 * message, within a format.
 */
export function ledgerSchema(format: number): string {
  const hasIdIndex = format === 1
  return `
CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID, STRICT;

CREATE TABLE events (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL${hasIdIndex ? ' UNIQUE' : ''},
  key TEXT,
  type TEXT NOT NULL,
  version INTEGER NOT NULL,
  at TEXT NOT NULL,
  conversationId TEXT,
  spanId TEXT,
  turnId TEXT,
  causedBy INTEGER,
  derivedFrom TEXT,
  channel TEXT,
  actor TEXT NOT NULL,
  facts TEXT NOT NULL,
  body TEXT,
  salt TEXT,
  bodyDigest TEXT,
  hash TEXT NOT NULL
) STRICT;

-- Partial: an event without a key must not cost a page of this index with each append.
CREATE UNIQUE INDEX events_key ON events (key) WHERE key IS NOT NULL;

CREATE TABLE erasures (
  seq INTEGER PRIMARY KEY,
  erasedBy INTEGER NOT NULL
) STRICT;

CREATE TRIGGER events_insert_guard BEFORE INSERT ON events BEGIN
  SELECT RAISE(ABORT, 'the ledger is append-only: seq must be the next one')
    WHERE NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM events);
${hasIdIndex ? ID_GUARD : ''}  SELECT RAISE(ABORT, 'the ledger is append-only: this key exists')
    WHERE EXISTS (SELECT 1 FROM events WHERE key = NEW.key);
END;

CREATE TRIGGER events_delete_guard BEFORE DELETE ON events BEGIN
  SELECT RAISE(ABORT, 'the ledger is append-only: events are never deleted');
END;

CREATE TRIGGER events_update_guard BEFORE UPDATE ON events BEGIN
  SELECT RAISE(ABORT, 'the ledger is append-only: only a body named by an erased fact may become null')
    WHERE NEW.body IS NOT NULL OR NEW.salt IS NOT NULL
      OR NOT EXISTS (SELECT 1 FROM erasures WHERE seq = OLD.seq)
      OR NEW.seq IS NOT OLD.seq OR NEW.id IS NOT OLD.id OR NEW.key IS NOT OLD.key
      OR NEW.type IS NOT OLD.type OR NEW.version IS NOT OLD.version OR NEW.at IS NOT OLD.at
      OR NEW.conversationId IS NOT OLD.conversationId OR NEW.spanId IS NOT OLD.spanId
      OR NEW.turnId IS NOT OLD.turnId OR NEW.causedBy IS NOT OLD.causedBy
      OR NEW.derivedFrom IS NOT OLD.derivedFrom OR NEW.channel IS NOT OLD.channel
      OR NEW.actor IS NOT OLD.actor OR NEW.facts IS NOT OLD.facts
      OR NEW.bodyDigest IS NOT OLD.bodyDigest OR NEW.hash IS NOT OLD.hash;
END;

CREATE TRIGGER events_erased AFTER INSERT ON events WHEN NEW.type = 'erased' BEGIN
  INSERT INTO erasures (seq, erasedBy)
    SELECT DISTINCT value, NEW.seq FROM json_each(NEW.facts, '$.seqs')
    WHERE value < NEW.seq AND NOT EXISTS (SELECT 1 FROM erasures WHERE seq = value);
  UPDATE events SET body = NULL, salt = NULL
    WHERE body IS NOT NULL AND seq IN (SELECT value FROM json_each(NEW.facts, '$.seqs'));
END;

CREATE TRIGGER erasures_insert_guard BEFORE INSERT ON erasures BEGIN
  SELECT RAISE(ABORT, 'an erasure needs its erased fact')
    WHERE NOT EXISTS (
      SELECT 1 FROM events, json_each(events.facts, '$.seqs')
      WHERE events.seq = NEW.erasedBy AND events.type = 'erased' AND json_each.value = NEW.seq
    );
  SELECT RAISE(ABORT, 'an erasure is never replaced')
    WHERE EXISTS (SELECT 1 FROM erasures WHERE seq = NEW.seq);
END;

CREATE TRIGGER erasures_update_guard BEFORE UPDATE ON erasures BEGIN
  SELECT RAISE(ABORT, 'an erasure is never changed');
END;

CREATE TRIGGER erasures_delete_guard BEFORE DELETE ON erasures BEGIN
  SELECT RAISE(ABORT, 'an erasure is never undone');
END;
`
}
