import { expect, test } from 'vitest'
import { diskRemedies } from '../../../ledger/causes.ts'
import { ledgerCheck } from '../../../src/operations/readiness/checks.ts'
import { startWholeService } from '../../support/service.ts'

test('health says when the whole ledger was last verified, and with which result', async () => {
  const { client } = await startWholeService()
  const verified = async () => (await client.get('/api/session/health')).json.verified
  await expect.poll(verified).toEqual({ at: expect.any(String), outcome: 'sound' })
})

test('names the damaged event only if it is known', () => {
  const stores = { ledger: null, views: null, settings: null, freeBytes: null, locked: null }
  const detailOf = (seq: number | null) => {
    const verification = { status: 'damaged', at: '2030-01-01T00:00:00.000Z', seq, message: '' } as const
    return ledgerCheck(stores, { ledgerError: null, verification }).detail
  }
  expect(detailOf(46)).toBe(`Event 46 is damaged. ${diskRemedies.damaged}`)
  expect(detailOf(null)).toBe(diskRemedies.damaged)
})
