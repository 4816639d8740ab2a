import { expect, test } from 'vitest'
import { ledgerFile } from '../../ledger/files.ts'
import { createLog } from '../../src/lib/log.ts'
import { openStores } from '../../src/storage/index.ts'
import { damagePages } from '../support/damage.ts'
import { testDirectory } from '../support/directory.ts'
import { newId, openTestWriter, said } from '../support/writer.ts'

const { log } = createLog({ level: 'silent', write: () => undefined, secretValues: () => [], aboveId: 0 })

test('verifies the ledger again without being asked, and shows damage on the timeline once', async () => {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  writer.append(...Array.from({ length: 200 }, (_, index) => said(`message ${index} ${'words '.repeat(60)}`)))
  writer.close()
  const { storage } = await openStores({
    directory,
    traceEvents: false,
    nowMs: Date.now,
    newId,
    log,
    onFatal: (error) => {
      throw error
    },
    verifyAfterMs: 0,
    verifyAgainMs: 20,
  })
  try {
    const verified = async () => (await storage.status()).verification
    await expect.poll(verified).toMatchObject({ status: 'sound', at: expect.any(String) })
    damagePages(ledgerFile(directory), [{ kind: 'zeros', page: 12, other: 0 }])
    await expect.poll(verified).toMatchObject({ status: 'damaged', at: expect.any(String) })
    await expect.poll(() => storage.ledger.head().seq).toBe(201)
    const at = async () => {
      const found = await verified()
      return 'at' in found ? found.at : ''
    }
    const before = await at()
    await expect.poll(at).not.toBe(before)
    expect(storage.ledger.head().seq).toBe(201)
    expect(storage.ledger.readSeqs([201])).toMatchObject([{ type: 'ledger.damage.found', actor: 'service' }])
  } finally {
    await storage.close()
  }
})
