-- Takes the lease if it is free or has expired. Returns the new epoch, or null. A node that was killed releases its own
-- lease first, by its epoch: a name does not tell two directories apart.
CREATE OR REPLACE FUNCTION delegate.take(p_ledger text, p_node text, p_ms integer) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  UPDATE delegate.ledger
  SET epoch = epoch + 1, holder = p_node, lease_until = clock_timestamp() + p_ms * interval '1 millisecond'
  WHERE ledger_id = p_ledger AND (holder IS NULL OR lease_until < clock_timestamp())
  RETURNING epoch
$$;
