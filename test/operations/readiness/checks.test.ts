import { expect, test } from 'vitest'
import { diskRemedies, movedFiles } from '../../../ledger/causes.ts'
import { inLanguage } from '../../../src/language/msg.ts'
import { checkOf, ledgerCheck, postgresCheck } from '../../../src/operations/readiness/checks.ts'
import type { StorageStatus } from '../../../src/storage/storage.ts'

const FAULT = 'PostgreSQL does not answer (connect ECONNREFUSED 127.0.0.1:5432)'
const STORES = { ledger: null, views: null, settings: null, freeBytes: null, locked: null }

test('explains faults of other threads in the language of the request', () => {
  inLanguage('de', () => {
    const engine = { mode: 'commit', role: 'holder', node: 'one', holder: 'one', epoch: 2 } as const
    const status = { engine: { ...engine, lag: 0, behindSince: null, fault: FAULT } } as StorageStatus
    expect(postgresCheck(status)?.detail).toBe(
      'PostgreSQL kann nicht bestätigen, dass one unter Epoche 2 schreiben darf: ' +
        'PostgreSQL antwortet nicht (connect ECONNREFUSED 127.0.0.1:5432).',
    )
    const verification = { status: 'running', seq: 1 } as StorageStatus['verification']
    const lost = 'PostgreSQL did not commit: the connection to PostgreSQL was lost during a commit'
    expect(ledgerCheck(STORES, { ledgerError: lost, verification }).detail).toBe(
      'PostgreSQL hat nicht bestätigt: die Verbindung zu PostgreSQL ging beim Bestätigen verloren',
    )
    expect(
      checkOf('The file views.sqlite was deleted, moved or replaced. Restart Delegate, which rebuilds it.')
        .detail,
    ).toMatch(/^Die Datei views\.sqlite wurde gelöscht, verschoben oder ersetzt\. Starte Delegate neu/)
    expect(checkOf(`${movedFiles.log} ${movedFiles.unsaved} (a reader blocks it)`).detail).toBe(
      'ledger.sqlite-wal oder ledger.sqlite-shm wurde verschoben, gelöscht oder ersetzt, während der Dienst lief. ' +
        'Der Inhalt ist noch nicht gespeichert. (a reader blocks it)',
    )
    expect(checkOf(`${diskRemedies.full} (SQLITE_FULL: database or disk is full)`).detail).toMatch(
      /^Der Datenträger ist voll\..* \(SQLITE_FULL: database or disk is full\)$/,
    )
  })
})
