import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ledgerFile } from '../../ledger/files.ts'
import { lockDirectory } from '../../ledger/lock.ts'
import { acceptLoss } from '../../scripts/lib/accept-loss.ts'
import { detachAlone } from '../../scripts/lib/engine.ts'
import { testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'
import { openTestStorage } from '../support/storage.ts'
import { openTestWriter, said } from '../support/writer.ts'
import { runScript } from './run-script.ts'

/** The stopped directory of a machine whose ledger PostgreSQL commits, with three messages. */
function committedElsewhere(): string {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  writer.ledger.setEngine('commit')
  for (const text of ['one', 'two', 'three']) writer.append(said(text))
  writer.close()
  return directory
}

test('restores a backup of a committed ledger for one machine', async () => {
  const backup = join(testDirectory(), 'backup')
  const target = join(testDirectory(), 'data')
  expect(await runScript('backup', committedElsewhere(), [backup])).toMatchObject({ code: 0 })
  expect(await runScript('restore', target, [backup])).toMatchObject({ code: 0 })
  const { ledger } = await openTestStorage(target)
  expect(ledger.head().seq).toBe(3)
})

test('runs without a lost PostgreSQL, and sends nothing until released', async () => {
  const directory = committedElsewhere()
  await expect(openTestStorage(directory)).rejects.toThrow('npm run engine:detach -- --without-postgres')
  await expect.poll(() => lockDirectory(directory).release()).toBeUndefined()
  expect(await runScript('engine', directory, ['detach', '--without-postgres'])).toEqual({
    code: 0,
    out:
      `${directory} keeps its 3 events. What only PostgreSQL had is lost.\n` +
      'Unset LEDGER_POSTGRES_MODE, and start the service.\n' +
      'Nothing is sent until you choose “Release outgoing work” in the browser.\n',
    err: '',
  })
  const { client } = await startWholeService({ directory })
  expect((await client.get('/api/outbound')).json).toMatchObject({ heldSince: expect.any(String) })
})

test('reports a missing end after PostgreSQL is lost, and starts once the loss is accepted', async () => {
  const directory = testDirectory()
  const live = testDirectory()
  const writer = openTestWriter(live)
  writer.ledger.setEngine('commit')
  writer.ledger.truncateLog()
  writer.append(said('one'))
  cpSync(live, directory, { recursive: true })
  writer.close()
  for (const suffix of ['-wal', '-shm']) rmSync(`${ledgerFile(directory)}${suffix}`)

  const accepting = () => acceptLoss(directory, async () => undefined)
  await expect(accepting()).rejects.toThrow('run npm run engine:detach -- --without-postgres first')
  await detachAlone(directory)
  await expect(openTestStorage(directory)).rejects.toThrow('1 event is missing (seq 1)')
  await expect.poll(() => lockDirectory(directory).release()).toBeUndefined()
  expect(await accepting()).toMatchObject({ missing: { firstSeq: 1, lastSeq: 1 } })
  const { ledger } = await openTestStorage(directory)
  expect(ledger.head().seq).toBe(1)
})
