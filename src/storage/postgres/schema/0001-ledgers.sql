-- Ledgers of Delegate. One database can hold many, so every key begins with the ledger's id. `seq` and `hash` are
-- assigned by Delegate: a sequence leaves gaps, and its values become visible out of order.
CREATE SCHEMA IF NOT EXISTS delegate;

CREATE TABLE delegate.ledger (
  ledger_id text PRIMARY KEY,
  head_seq bigint NOT NULL,
  head_hash text NOT NULL,
  -- Raised by each takeover. Writes under an older epoch are refused.
  epoch bigint NOT NULL DEFAULT 0,
  -- The node that may write, until `lease_until`; null once it has released the lease.
  holder text,
  lease_until timestamptz NOT NULL DEFAULT '-infinity'
);

CREATE TABLE delegate.event (
  ledger_id text NOT NULL REFERENCES delegate.ledger,
  seq bigint NOT NULL,
  id text NOT NULL,
  key text,
  type text NOT NULL,
  version integer NOT NULL,
  at text NOT NULL,
  "conversationId" text,
  "spanId" text,
  "turnId" text,
  "causedBy" bigint,
  "derivedFrom" text,
  channel text,
  actor text NOT NULL,
  facts text NOT NULL,
  body text,
  salt text,
  "bodyDigest" text,
  hash text NOT NULL,
  epoch bigint NOT NULL,
  PRIMARY KEY (ledger_id, seq)
);
CREATE UNIQUE INDEX event_key ON delegate.event (ledger_id, key) WHERE key IS NOT NULL;

-- The state beside ledger.sqlite: settings.sqlite, whose secrets are sealed, and files of the owner.
CREATE TABLE delegate.file (
  ledger_id text NOT NULL REFERENCES delegate.ledger,
  path text NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (ledger_id, path)
);

-- How far each node has come, so that a receipt can name those that still have erased words.
CREATE TABLE delegate.node (
  ledger_id text NOT NULL REFERENCES delegate.ledger,
  node text NOT NULL,
  applied_seq bigint NOT NULL,
  erased_through bigint NOT NULL,
  seen_at timestamptz NOT NULL,
  PRIMARY KEY (ledger_id, node)
);

CREATE FUNCTION delegate.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the ledger is append-only';
END $$;
CREATE TRIGGER event_delete BEFORE DELETE OR TRUNCATE ON delegate.event
  FOR EACH STATEMENT EXECUTE FUNCTION delegate.refuse_change();
-- Only a body may change, and only to nothing.
CREATE TRIGGER event_update BEFORE UPDATE ON delegate.event FOR EACH ROW
  WHEN (NEW.body IS NOT NULL OR NEW.salt IS NOT NULL
    OR (NEW.ledger_id, NEW.seq, NEW.hash, NEW.facts, NEW."bodyDigest")
      IS DISTINCT FROM (OLD.ledger_id, OLD.seq, OLD.hash, OLD.facts, OLD."bodyDigest"))
  EXECUTE FUNCTION delegate.refuse_change();

-- The row of the ledger, locked. It serialises all writers, and waits for one whose connection was lost.
CREATE FUNCTION delegate.locked(p_ledger text, p_epoch bigint) RETURNS delegate.ledger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE found delegate.ledger;
BEGIN
  SELECT * INTO found FROM delegate.ledger WHERE ledger_id = p_ledger FOR UPDATE;
  IF found.ledger_id IS NULL THEN
    RAISE EXCEPTION 'this database has no ledger %', p_ledger USING ERRCODE = 'DG001';
  END IF;
  IF found.epoch <> p_epoch THEN
    RAISE EXCEPTION 'another node has taken over: epoch % instead of %', found.epoch, p_epoch
      USING ERRCODE = 'DG002';
  END IF;
  RETURN found;
END $$;

-- Appends rows after a head, with the files that changed (null bytes: removed), or refuses them as a whole.
CREATE FUNCTION delegate.append(
  p_ledger text, p_epoch bigint, p_seq bigint, p_hash text, p_rows json, p_files json
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  before delegate.ledger;
  head bigint := p_seq + json_array_length(p_rows);
  highest bigint;
  erases boolean;
BEGIN
  UPDATE delegate.ledger SET head_seq = head, head_hash = coalesce(p_rows -> -1 ->> 'hash', p_hash)
  WHERE ledger_id = p_ledger AND epoch = p_epoch AND (head_seq, head_hash) = (p_seq, p_hash);
  IF NOT FOUND THEN
    before := delegate.locked(p_ledger, p_epoch);
    RAISE EXCEPTION 'the ledger ends with event % instead of %', before.head_seq, p_seq USING ERRCODE = 'DG003';
  END IF;

  -- Files may come alone, also before the first event.
  IF head > p_seq THEN
    WITH added AS (
      INSERT INTO delegate.event (
        ledger_id, epoch, seq, id, key, type, version, at, "conversationId", "spanId", "turnId", "causedBy",
        "derivedFrom", channel, actor, facts, body, salt, "bodyDigest", hash)
      SELECT
        p_ledger, p_epoch, seq, id, key, type, version, at, "conversationId", "spanId", "turnId", "causedBy",
        "derivedFrom", channel, actor, facts, body, salt, "bodyDigest", hash
      FROM json_populate_recordset(NULL::delegate.event, p_rows)
      RETURNING seq, type)
    SELECT max(seq), bool_or(type = 'erased') INTO highest, erases FROM added;
    -- Seqs are unique, so nothing is missing between.
    IF (highest, (p_rows -> -1 ->> 'seq')::bigint) IS DISTINCT FROM (head, head) THEN
      RAISE EXCEPTION 'the rows do not follow event %', p_seq USING ERRCODE = 'DG003';
    END IF;
  END IF;

  IF erases THEN
    UPDATE delegate.event SET body = NULL, salt = NULL
    WHERE ledger_id = p_ledger AND body IS NOT NULL AND seq IN (
      SELECT value::bigint
      FROM delegate.event AS erased, json_array_elements_text(erased.facts::json -> 'seqs')
      WHERE erased.ledger_id = p_ledger AND erased.seq > p_seq AND erased.type = 'erased');
  END IF;

  IF json_array_length(p_files) > 0 THEN
    DELETE FROM delegate.file WHERE ledger_id = p_ledger
      AND path IN (SELECT path FROM json_to_recordset(p_files) AS changed (path text));
    INSERT INTO delegate.file
    SELECT p_ledger, path, decode(base64, 'base64')
    FROM json_to_recordset(p_files) AS changed (path text, base64 text) WHERE base64 IS NOT NULL;
  END IF;
END $$;

-- Returns once no append is under way. It writes, so that its own commit makes everything visible durable: a commit
-- whose wait for a standby was cancelled may not be.
CREATE FUNCTION delegate.settle(p_ledger text, p_epoch bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM delegate.locked(p_ledger, p_epoch);
  UPDATE delegate.ledger SET epoch = epoch WHERE ledger_id = p_ledger;
END $$;

-- Takes the lease if it is free, has expired or is this node's own. Returns the new epoch, or null.
CREATE FUNCTION delegate.take(p_ledger text, p_node text, p_ms integer) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  UPDATE delegate.ledger
  SET epoch = epoch + 1, holder = p_node, lease_until = clock_timestamp() + p_ms * interval '1 millisecond'
  WHERE ledger_id = p_ledger AND (holder IS NULL OR holder = p_node OR lease_until < clock_timestamp())
  RETURNING epoch
$$;

-- Ends the current lease, and gives it to a node or to nobody, for the operator. Returns the new epoch.
CREATE FUNCTION delegate.seize(p_ledger text, p_node text, p_until timestamptz) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  UPDATE delegate.ledger SET epoch = epoch + 1, holder = p_node, lease_until = p_until
  WHERE ledger_id = p_ledger RETURNING epoch
$$;

-- False if this node no longer has the lease under this epoch. An expired lease that nobody took is renewed.
CREATE FUNCTION delegate.renew(p_ledger text, p_node text, p_epoch bigint, p_ms integer) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  WITH renewed AS (
    UPDATE delegate.ledger SET lease_until = clock_timestamp() + p_ms * interval '1 millisecond'
    WHERE ledger_id = p_ledger AND holder = p_node AND epoch = p_epoch RETURNING 1)
  SELECT EXISTS (SELECT FROM renewed)
$$;

CREATE FUNCTION delegate.release(p_ledger text, p_epoch bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  UPDATE delegate.ledger SET holder = NULL WHERE ledger_id = p_ledger AND epoch = p_epoch
$$;

CREATE FUNCTION delegate.report(p_ledger text, p_node text, p_applied bigint, p_erased bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO delegate.node VALUES (p_ledger, p_node, p_applied, p_erased, clock_timestamp())
  ON CONFLICT (ledger_id, node) DO UPDATE
  SET applied_seq = p_applied, erased_through = p_erased, seen_at = clock_timestamp()
$$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA delegate FROM PUBLIC;
