import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { copyAsStandby, type Postgres, startPair } from '../../support/postgres.ts'

export type Databases = Awaited<ReturnType<typeof startDatabases>>

/** The backends of both nodes. */
const BACKENDS = `FROM pg_stat_activity WHERE application_name LIKE 'delegate %' AND pid <> pg_backend_pid()`

/** A primary with a synchronous standby, in two places, whose roles change. */
export async function startDatabases(directory: string) {
  const pair = await startPair(directory)
  const places = [pair.primary, pair.standby]
  let primaryAt = 0
  let copies = 0
  let promotions = 0

  const primary = () => places[primaryAt] as Postgres
  const standby = () => places[1 - primaryAt] as Postgres

  return {
    primary,
    standby,
    promotions: () => promotions,
    /** The port in each of the two places. */
    portAt: (place: number) => (places[place] as Postgres).port,
    /** Promotes the standby of a dead primary, and gives it another standby in the place of the dead one. */
    async promote(): Promise<void> {
      const next = standby()
      await next.promote()
      promotions += 1
      await next.stop()
      const dead = primary()
      copies += 1
      const copy = await copyAsStandby(next, join(directory, `copy-${copies}`))
      places[primaryAt] = copy
      primaryAt = 1 - primaryAt
      rmSync(dead.directory, { recursive: true, force: true })
      await next.start()
      await copy.start()
    },
    cancelAll: () => primary().query(`SELECT pg_cancel_backend(pid) ${BACKENDS} AND state = 'active'`),
    terminateAll: () => primary().query(`SELECT pg_terminate_backend(pid) ${BACKENDS}`),
    /** Whether each commit is copied at present. */
    async isSynchronous(): Promise<boolean> {
      const { rows } = await primary().query(
        `SELECT 1 FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum') AND state = 'streaming'`,
      )
      return rows.length > 0
    },
    async close(): Promise<void> {
      for (const place of places) {
        place.signal('SIGCONT')
        await place.kill()
      }
    },
  }
}
