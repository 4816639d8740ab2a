// @module-tag long

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startTelephonyDouble } from '../doubles/telephony/telephony-double.ts'
import { createClient } from '../http/client.ts'
import { ACCOUNT, AUTH_TOKEN, createProvider, NUMBER, OWNER, PUBLIC_URL } from '../phone/provider.ts'
import { type ServiceProcess, startServiceProcess } from './service-process.ts'
import { inTemporaryDirectory } from './temporary.ts'

const HOUR_MS = 3_600_000

test('sends each text of an outage of hours exactly once, despite kill -9', async () => {
  const double = await startTelephonyDouble({ accountSid: ACCOUNT, authToken: AUTH_TOKEN })
  const startAhead = (hours: number): ServiceProcess =>
    startServiceProcess(directory, {
      NODE_OPTIONS: `--import=${join(import.meta.dirname, 'ahead-clock.ts')}`,
      CLOCK_AHEAD_MS: String(hours * HOUR_MS),
      TELEPHONY_ACCOUNT_SID: ACCOUNT,
      TELEPHONY_AUTH_TOKEN: AUTH_TOKEN,
      TELEPHONY_PHONE_NUMBER: NUMBER,
      TELEPHONY_API_BASE_URL: double.url,
      OWNER_PHONE_NUMBER: OWNER,
      PUBLIC_URL,
    })
  /** Waits until the process failed to send a text, then kills it. */
  const tryAndKill = async (service: ServiceProcess) => {
    await expect.poll(service.output, { timeout: 30_000 }).toContain('a delivery failed')
    await service.kill()
  }
  let directory = ''
  await inTemporaryDirectory(async (temporary) => {
    directory = temporary
    double.setOutage({ type: 'refuse', status: 503, code: 20503 })
    const first = startAhead(0)
    const port = await first.listening
    const installed = await createClient(port).post('/api/install', {
      password: 'a long walk by the river',
      setupCode: first.setupCode(),
    })
    expect(installed.status).toBe(201)
    const provider = createProvider(port)
    for (const [sid, Body] of [['SM1', 'What time is it?'] as const, ['SM2', 'Thank you!'] as const])
      await provider.post('/sms', {
        MessageSid: sid,
        AccountSid: ACCOUNT,
        From: OWNER,
        To: NUMBER,
        Body,
        NumMedia: '0',
      })
    await tryAndKill(first)
    await tryAndKill(startAhead(5))
    expect(double.messages).toEqual([])

    double.setOutage(null)
    const again = startAhead(10)
    await expect.poll(() => double.messages.length, { timeout: 30_000 }).toBe(2)
    await again.stop()
    const last = startAhead(20)
    await last.listening
    await new Promise((resolve) => setTimeout(resolve, 500))
    await last.stop()
    expect(double.messages).toHaveLength(2)
    // The log names the failure but not the number.
    expect(first.output()).not.toContain(OWNER)
  })
  await double.close()
})
