import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ledgerFile } from '../../ledger/files.ts'
import { lockDirectory } from '../../ledger/lock.ts'
import { createOwnerQueries } from '../../projections/owner.ts'
import { digests, testDirectory } from '../support/directory.ts'
import { openTestStorage } from '../support/storage.ts'
import { openTestWriter, said } from '../support/writer.ts'
import { runScript } from './run-script.ts'

/** A directory that lost its log, with events 6 to 20. */
function directoryWithLoss(): string {
  const live = testDirectory()
  const directory = testDirectory()
  const writer = openTestWriter(live)
  for (let index = 1; index <= 20; index += 1) {
    if (index === 6) writer.ledger.truncateLog()
    writer.append(said(`message ${index}`))
  }
  cpSync(live, directory, { recursive: true })
  writer.close()
  for (const suffix of ['-wal', '-shm']) rmSync(`${ledgerFile(directory)}${suffix}`)
  return directory
}

test('shows a loss, accepts it by its number, records it, and sends nothing afterwards', async () => {
  const directory = directoryWithLoss()
  const before = digests(directory)
  const kept = () => Object.entries(digests(directory)).filter(([file]) => !file.includes('lock.sqlite'))
  const shown = await runScript('ledger-accept-loss', directory)
  expect(shown).toMatchObject({ code: 1, err: expect.stringContaining('-- --events 15\n') })
  expect(shown.out).toMatch(
    /^15 events are missing \(seq 6 to 20\): ledger\.head recorded event 20 at .* ends with event 5\.\n$/,
  )
  const wrong = await runScript('ledger-accept-loss', directory, ['--events', '14'])
  expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('is 15, not “14”')])
  expect(kept()).toEqual(Object.entries(before))
  expect((await runScript('ledger-verify', directory)).err).toMatch(
    /^DAMAGED at event 6: 15 events are missing/,
  )

  const accepted = await runScript('ledger-accept-loss', directory, ['--events', '15'])
  expect([accepted.code, accepted.err]).toEqual([0, ''])
  expect(await runScript('ledger-verify', directory)).toMatchObject({ code: 0 })
  expect(await runScript('ledger-accept-loss', directory)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^No event is missing/),
  })
  const storage = await openTestStorage(directory)
  expect(storage.ledger.head().seq).toBe(6)
  expect(storage.ledger.readSeqs([6])).toMatchObject([
    {
      type: 'ledger.loss.accepted',
      actor: 'owner',
      facts: { fromSeq: 6, toSeq: 20, knownLedgerId: storage.ledger.id() },
    },
  ])
  expect(createOwnerQueries(storage.views).outboundHeld()).toMatchObject({ heldSeq: 6 })
  expect((await storage.status()).projections.every(({ error }) => error === null)).toBe(true)
})

test('accepts a replaced ledger, whose missing events cannot be counted', async () => {
  const directory = directoryWithLoss()
  const other = testDirectory()
  const writer = openTestWriter(other)
  for (let index = 0; index < 30; index += 1) writer.append(said('somebody else'))
  writer.close()
  cpSync(ledgerFile(other), ledgerFile(directory))
  const shown = await runScript('ledger-accept-loss', directory)
  expect([shown.code, shown.err]).toEqual([1, expect.stringContaining('-- --events unknown\n')])
  expect(await runScript('ledger-accept-loss', directory, ['--events', 'unknown'])).toMatchObject({
    code: 0,
  })
  const goesOn = openTestWriter(directory)
  expect(goesOn.ledger.readSeqs([31])).toMatchObject([
    { type: 'ledger.loss.accepted', facts: { fromSeq: null, toSeq: 20 } },
  ])
  goesOn.close()
})

test('refuses to accept a loss while the service is running', async () => {
  const directory = directoryWithLoss()
  const lock = lockDirectory(directory)
  const ran = await runScript('ledger-accept-loss', directory, ['--events', '15'])
  expect([ran.code, ran.err]).toEqual([1, 'The service is running. Stop it first.\n'])
  lock.release()
  expect(readFileSync(join(directory, 'ledger.head'), 'utf8')).toContain('"seq":20')
})
