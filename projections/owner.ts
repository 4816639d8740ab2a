import type { Database } from 'better-sqlite3'
import { defineProjection } from './projection.ts'

/** Whether the service is installed, and whether outbound work waits for the owner after an import, a restore or a loss. */
export const ownerProjection = defineProjection({
  name: 'owner',
  version: 1,
  tables: ['owner', 'outbound'],
  schema: `
    CREATE TABLE owner (installedSeq INTEGER PRIMARY KEY, installedAt TEXT NOT NULL, timezone TEXT NOT NULL) STRICT;
    CREATE TABLE outbound (heldSeq INTEGER PRIMARY KEY, heldAt TEXT NOT NULL) STRICT;`,
  fold(db) {
    const install = db.prepare('INSERT INTO owner VALUES (?, ?, ?)')
    const hold = db.prepare('INSERT INTO outbound VALUES (?, ?)')
    const release = db.prepare('DELETE FROM outbound')
    return {
      handlers: {
        'owner.installed': (event) => void install.run(event.seq, event.at, event.facts.timezone),
        'ledger.imported': (event) => void hold.run(event.seq, event.at),
        // What was sent may be among what is lost.
        'ledger.loss.accepted': (event) => void hold.run(event.seq, event.at),
        'outbound.released': () => void release.run(),
      },
    }
  },
})

/** Queries over the service's own state, on a connection that reads the views. */
export function createOwnerQueries(views: Database) {
  const installed = views.prepare<[], { installedAt: string; timezone: string }>(
    'SELECT installedAt, timezone FROM owner LIMIT 1',
  )
  const held = views.prepare<[], { heldSeq: number; heldAt: string }>(
    'SELECT heldSeq, heldAt FROM outbound ORDER BY heldSeq DESC LIMIT 1',
  )
  return {
    installed: () => installed.get(),
    /** Since when outbound work waits for the owner's release; undefined while it does not. */
    outboundHeld: () => held.get(),
  }
}
