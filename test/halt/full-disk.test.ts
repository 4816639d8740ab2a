import { expect, test } from 'vitest'
import { ofType } from '../phone/phone-harness.ts'
import { OWNER } from '../phone/provider.ts'
import { runScript } from '../scripts/run-script.ts'
import { startWithTexts } from '../sms/sms-harness.ts'
import { mountSmallDisk } from '../support/small-disk.ts'

test('ends a call on a halt while the disk is full', async ({ skip }) => {
  const disk = mountSmallDisk(24)
  if (disk === null) return skip('no file system can be mounted here')
  const phone = await startWithTexts({ directory: disk.directory })
  const { caller } = await phone.dial('CA1', OWNER)
  await phone.eventsUntil('the greeting', (all) => ofType(all, 'call.reply.spoken').length === 1)
  disk.fill()
  const note = { title: 'Filler', content: 'x'.repeat(5_000) }
  await expect
    .poll(async () => (await phone.service.client.post('/api/notes', note)).status, { timeout: 20_000 })
    .toBe(503)
  expect((await runScript('halt', disk.directory)).code).toBe(0)
  await caller.closed
  disk.free()
  const all = await phone.eventsUntil('the end', (events) => ofType(events, 'call.ended').length === 1)
  expect(ofType(all, 'call.ended')[0].payload.reason).toBe('halted')
})
