-- Guards events as the triggers of ledger.sqlite do: only a body that an erased fact names may change, and only to null.
CREATE INDEX event_erased ON delegate.event (ledger_id, seq) WHERE type = 'erased';

CREATE FUNCTION delegate.refuse_other_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  OLD.body := NULL;
  OLD.salt := NULL;
  -- Compares all columns.
  IF NEW IS DISTINCT FROM OLD THEN
    RAISE EXCEPTION 'the ledger is append-only: only a body named by an erased fact may become null';
  END IF;
  RETURN NEW;
END $$;
DROP TRIGGER event_update ON delegate.event;
CREATE TRIGGER event_update BEFORE UPDATE ON delegate.event
  FOR EACH ROW EXECUTE FUNCTION delegate.refuse_other_change();

-- Reads the newest erased facts first: an erasure follows its own. Once per statement, because that may be hundreds of
-- bodies.
CREATE FUNCTION delegate.refuse_unnamed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed_in text;
  unnamed bigint[];
  named json;
BEGIN
  FOR changed_in, unnamed IN SELECT ledger_id, array_agg(seq) FROM changed GROUP BY ledger_id LOOP
    FOR named IN
      SELECT facts::json -> 'seqs' FROM delegate.event
      WHERE ledger_id = changed_in AND type = 'erased' ORDER BY seq DESC
    LOOP
      unnamed := ARRAY(SELECT unnest(unnamed) EXCEPT SELECT value::bigint FROM json_array_elements_text(named));
      EXIT WHEN cardinality(unnamed) = 0;
    END LOOP;
    IF cardinality(unnamed) > 0 THEN
      RAISE EXCEPTION 'the ledger is append-only: only a body named by an erased fact may become null';
    END IF;
  END LOOP;
  RETURN NULL;
END $$;
CREATE TRIGGER event_erasure AFTER UPDATE ON delegate.event REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION delegate.refuse_unnamed();

REVOKE ALL ON FUNCTION delegate.refuse_other_change(), delegate.refuse_unnamed() FROM PUBLIC;
