import type { Database } from 'better-sqlite3'
import type { FactsOf } from '../ledger/events/catalogue.ts'
import { defineProjection } from './projection.ts'

/** Whether the service is installed, whether an import, a restore or a loss holds outbound work, and the halt. */
export const ownerProjection = defineProjection({
  name: 'owner',
  version: 2,
  tables: ['owner', 'outbound', 'halt'],
  schema: `
    CREATE TABLE owner (installedSeq INTEGER PRIMARY KEY, installedAt TEXT NOT NULL, timezone TEXT NOT NULL) STRICT;
    CREATE TABLE outbound (heldSeq INTEGER PRIMARY KEY, heldAt TEXT NOT NULL) STRICT;
    CREATE TABLE halt (haltedSeq INTEGER PRIMARY KEY, haltedAt TEXT NOT NULL, by TEXT NOT NULL) STRICT;`,
  fold(db) {
    const install = db.prepare('INSERT INTO owner VALUES (?, ?, ?)')
    const hold = db.prepare('INSERT INTO outbound VALUES (?, ?)')
    const release = db.prepare('DELETE FROM outbound')
    const halt = db.prepare('INSERT INTO halt VALUES (?, ?, ?)')
    const endHalt = db.prepare('DELETE FROM halt')
    return {
      handlers: {
        'owner.installed': (event) => void install.run(event.seq, event.at, event.facts.timezone),
        'ledger.imported': (event) => void hold.run(event.seq, event.at),
        // The lost events may include sent messages.
        'ledger.loss.accepted': (event) => void hold.run(event.seq, event.at),
        // So may what is missing of a damaged ledger.
        'ledger.salvaged': (event) => void hold.run(event.seq, event.at),
        'outbound.released': () => void release.run(),
        'delegation.halted': (event) => void halt.run(event.seq, event.at, event.facts.by),
        'delegation.released': () => void endHalt.run(),
      },
    }
  },
})

export type HaltRow = {
  readonly haltedSeq: number
  readonly haltedAt: string
  readonly by: FactsOf<'delegation.halted'>['by']
}

export function createOwnerQueries(views: Database) {
  const installed = views.prepare<[], { installedAt: string; timezone: string }>(
    'SELECT installedAt, timezone FROM owner LIMIT 1',
  )
  const held = views.prepare<[], { heldSeq: number; heldAt: string }>(
    'SELECT heldSeq, heldAt FROM outbound ORDER BY heldSeq DESC LIMIT 1',
  )
  const halted = views.prepare<[], HaltRow>('SELECT * FROM halt ORDER BY haltedSeq LIMIT 1')
  return {
    installed: () => installed.get(),
    /** Since when outbound work waits for the owner's release; undefined if it does not. */
    outboundHeld: () => held.get(),
    /** Since when, and by what, the delegate is halted; undefined if it is not. */
    halted: () => halted.get(),
  }
}
