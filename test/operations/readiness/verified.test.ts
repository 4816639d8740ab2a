import { expect, test } from 'vitest'
import { startWholeService } from '../../support/service.ts'

test('health says when the whole ledger was last verified, and with which result', async () => {
  const { client } = await startWholeService()
  const verified = async () => (await client.get('/api/session/health')).json.verified
  await expect.poll(verified).toEqual({ at: expect.any(String), outcome: 'sound' })
})
