import { cpSync } from 'node:fs'
import { expect, test } from 'vitest'
import { chainHash, type EventRow, GENESIS_HASH } from '../../ledger/codec.ts'
import { ledgerFile } from '../../ledger/files.ts'
import { damagePages } from '../support/damage.ts'
import { testDirectory } from '../support/directory.ts'
import { rowsIn } from '../support/salvaging.ts'
import { fillDirectory, runScript, tamper } from './run-script.ts'

/** A salvaged directory whose ledger has a gap of several events. */
async function salvaged(): Promise<string> {
  const directory = testDirectory()
  const target = `${testDirectory()}/salvaged`
  fillDirectory(directory, 300)
  damagePages(ledgerFile(directory), [{ kind: 'zeros', page: 10, other: 0 }])
  await runScript('ledger-salvage', directory, [target])
  return target
}

const sqlText = (value: unknown) => (value === null ? 'NULL' : `'${String(value).replaceAll("'", "''")}'`)

test('does not let a gap hide an edit', async () => {
  const target = await salvaged()
  const noted = rowsIn(target)
  const head = noted.at(-1)
  const old = noted[250]
  const expectAt = (row = head) =>
    runScript('ledger-verify', target, ['--expect', `${row?.seq}:${row?.hash}`])
  expect((await expectAt()).code).toBe(0)
  // The old head is still there. It would vouch for forged events before the gap.
  expect(await expectAt(old)).toMatchObject({ code: 1, err: expect.stringMatching(/does not vouch/) })

  const refusals: readonly (readonly [string, RegExp])[] = [
    // An event is removed as if it had been lost.
    [
      `UPDATE events SET (id, key, type, version, channel, actor, facts, body, salt, bodyDigest, conversationId, spanId)
       = ('lost-200', NULL, 'ledger.event.lost', 1, 'system', 'service', '{}', NULL, NULL, NULL, NULL, NULL) WHERE seq = 200`,
      /event 200 is lost, and no ledger\.salvaged fact names it/,
    ],
    // Words in the place of a lost event.
    [
      `UPDATE events SET facts = '{"text":"forged"}' WHERE type = 'ledger.event.lost'`,
      /is not what was written/,
    ],
    [`UPDATE events SET at = 'forged' WHERE type = 'ledger.event.lost'`, /is not what was written/],
    // The history before a gap is another one.
    [
      `UPDATE events SET hash = '${'a'.repeat(64)}' WHERE seq = (SELECT min(seq) - 1 FROM events WHERE type = 'ledger.event.lost')`,
      /is not what was written/,
    ],
  ]
  for (const [sql, message] of refusals) {
    const copy = testDirectory()
    cpSync(target, copy, { recursive: true })
    tamper(copy, sql)
    expect(await runScript('ledger-verify', copy)).toMatchObject({
      code: 1,
      err: expect.stringMatching(message),
    })
  }
})

test('does not let a gap hide another history before it', async () => {
  const target = await salvaged()
  const rows = rowsIn(target)
  const gapSeq = rows.find(({ type }) => type === 'ledger.event.lost')?.seq ?? 0
  let hash = GENESIS_HASH
  const forged = rows.slice(0, gapSeq - 1).map((row) => {
    const at = '2029-01-01T00:00:00.000Z'
    hash = chainHash(hash, row.seq, { ...row, at })
    return `UPDATE events SET at = '${at}', hash = '${hash}' WHERE seq = ${row.seq}`
  })
  tamper(target, forged.join(';'))
  expect(await runScript('ledger-verify', target)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/is not the one that was before the lost event/),
  })
})

test('does not let a gap hide a forged event inside it', async () => {
  const target = await salvaged()
  const rows = rowsIn(target)
  const gapAt = rows.findIndex(({ type }) => type === 'ledger.event.lost')
  const [before, lost] = rows.slice(gapAt - 1) as [EventRow, EventRow]
  const forged = { ...before, seq: lost.seq, id: 'forged', key: null }
  const row = { ...forged, hash: chainHash(before.hash, lost.seq, forged) }
  tamper(
    target,
    `UPDATE events SET (${Object.keys(row)}) = (${Object.values(row).map(sqlText)}) WHERE seq = ${row.seq}`,
  )
  expect(await runScript('ledger-verify', target)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/is not the one that was before the lost event/),
  })
})
