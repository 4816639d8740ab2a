import { existsSync, readdirSync } from 'node:fs'
import { Kysely, SqliteDialect } from 'kysely'
import type { Append } from '../../ledger/event.ts'
import { recordImport } from '../../ledger/imported.ts'
import type { ViewsTables } from '../../projections/tables.ts'
import type { Log } from '../lib/log.ts'
import { tightenModes } from './modes.ts'
import { createPlacement } from './placement.ts'
import { openStorage, type StorageOptions } from './storage.ts'

/** Opens the ledger and the views of a data directory. Rejects with LedgerDamaged or LedgerLocked. */
export async function openStores(
  options: Omit<StorageOptions, 'onNotice' | 'onWarning' | 'onVerified'> & { readonly log: Log },
) {
  const { directory, newId, log } = options
  if (existsSync(directory)) {
    const wasEmpty = readdirSync(directory).length === 0
    const modes = tightenModes(directory)
    reportModes(wasEmpty ? { ...modes, tightened: [] } : modes, log)
  }
  const storage = await openStorage({
    ...options,
    onNotice: (message, fields) => log.info(fields, message),
    onWarning: (message, fields) => log.warn(fields, message),
    onVerified(verification) {
      if (verification.status === 'sound') log.info({ ...verification.head }, 'ledger verified: no damage')
      else log.error({ ...verification }, 'ledger verification failed')
      if (verification.status === 'damaged')
        recordDamage(append, verification.seq).catch((error: unknown) =>
          log.error({ err: error }, 'the damage of the ledger could not be recorded'),
        )
    },
  })
  const { append, ledger, views } = storage
  await recordImport(ledger, append)
  return {
    storage,
    placement: createPlacement({ append, views, newId }),
    /** The views, for dynamic queries. */
    kysely: new Kysely<ViewsTables>({ dialect: new SqliteDialect({ database: views }) }),
  }
}

/** Shows damage on the timeline, once per event. */
async function recordDamage(append: Append, seq: number | null): Promise<void> {
  await append([
    {
      type: 'ledger.damage.found',
      actor: 'service',
      channel: 'system',
      key: `ledger.damage.found:${seq}`,
      facts: { seq },
    },
  ])
}

function reportModes({ tightened, refused }: ReturnType<typeof tightenModes>, log: Log): void {
  if (tightened.length > 0)
    log.warn(
      { tightened: tightened.length },
      'Files in DATA_DIR were readable by other accounts. They no longer are.',
    )
  if (refused.length > 0)
    log.warn(
      { files: refused },
      'Files in DATA_DIR are readable by other accounts, and this account may not change that. ' +
        'As root, chown -R them to the account of the service, then restart it.',
    )
}
