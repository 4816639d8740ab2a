import { expect, onTestFinished, test } from 'vitest'
import { createClient } from './http/client.ts'
import { testDirectory } from './support/directory.ts'
import { startServiceProcess } from './torture/service-process.ts'

test('keeps running and stops in order after its log pipe was closed', async () => {
  const service = startServiceProcess(testDirectory(), { LOG_LEVEL: 'trace' })
  onTestFinished(service.kill)
  const client = createClient(await service.listening)
  service.child.stdout?.destroy()
  service.child.stderr?.destroy()
  for (let round = 0; round < 3; round += 1) expect((await client.get('/health')).status).toBe(200)
  expect(await service.stop()).toBe(0)
})
