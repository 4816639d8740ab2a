import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'

test('finds open files and an undeclared proxy of a running service, and sees them mended', async () => {
  const { client, directory } = await startWholeService()
  await client.put('/api/config', { entries: { DELIVERY_WEBHOOK_SECRET: 'a secret makes the key' } })
  const check = async (wanted: string) => {
    const { checks } = (await client.get('/api/security')).json
    return checks.find(({ id }: { id: string }) => id === wanted)
  }
  const [first, ...others] = (await client.get('/api/security')).json.checks
  expect(first).toMatchObject({ id: 'sign_in', status: 'warning' })
  expect(others.map(({ status }: { status: string }) => status)).toEqual(Array(10).fill('ok'))

  const key = join(directory, 'secret.key')
  chmodSync(key, 0o640)
  expect(await check('files')).toMatchObject({
    status: 'problem',
    detail: expect.stringContaining(key),
    remedy: `Run: chmod -R go= ${directory}`,
  })
  chmodSync(key, 0o600)
  expect(await check('files')).toMatchObject({ status: 'ok', remedy: null })

  await client.get('/health', { headers: { 'x-forwarded-for': '203.0.113.9' } })
  expect(await check('proxy')).toMatchObject({
    status: 'warning',
    detail: expect.stringContaining('127.0.0.1'),
  })
  await client.put('/api/config', { entries: { TRUSTED_PROXY: '127.0.0.1' } })
  expect(await check('proxy')).toMatchObject({ status: 'ok' })
})
