/**
 * Writes a golden event for each type without one of its current version: `npx node
 * test/ledger/golden/write-missing.ts`. Existing files are never rewritten, because every stored version
 * must parse forever.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { chainHash, type EventRow, GENESIS_HASH, toDraft } from '../../../ledger/codec.ts'
import { catalogue } from '../../../ledger/events/catalogue.ts'
import { eventTypes, factOf } from '../../support/facts.ts'

for (const type of eventTypes) {
  const file = join(import.meta.dirname, `${type}.json`)
  const rows: EventRow[] = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
  if (rows.some(({ version }) => version === catalogue[type].version)) continue
  const [fact] = fc.sample(factOf(type), { seed: 1, numRuns: 1 })
  if (!fact) throw new Error(`no example of ${type}`)
  const draft = toDraft(fact, {
    newId: () =>
      `01kdxy0000${type
        .replaceAll(/[^a-z]/g, '')
        .slice(0, 16)
        .padEnd(16, '0')}`,
    newSalt: () => '00112233445566778899aabbccddeeff',
    at: '2026-01-02T03:04:05.000Z',
  })
  rows.push({ seq: 2, ...draft, hash: chainHash(GENESIS_HASH, 2, draft) })
  writeFileSync(file, `${JSON.stringify(rows, null, 2)}\n`)
  console.info(`wrote ${file}`)
}
