// @module-tag long

import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { ledgerFile } from '../../ledger/files.ts'
import { createClient } from '../http/client.ts'
import { testDirectory } from '../support/directory.ts'
import { PASSWORD } from '../support/service.ts'
import { startServiceProcess } from './service-process.ts'
import { inTemporaryDirectory } from './temporary.ts'
import { loseFiles } from './witness.ts'

test('detects lost or exchanged ledger files instead of losing acknowledged events silently', async () => {
  await inTemporaryDirectory(async (directory) => {
    // In this order: the index while running, the log after a kill, an older log while running.
    const report = await loseFiles({ directory, rounds: 3, seed: 12 })
    expect(report.flaws).toEqual([])
    expect(report).toMatchObject({ amidRuns: 2, damaged: 0 })
    expect(report.refused).toBeGreaterThan(0)
  })
})

test('rejects requests, saves its ledger and exits with a message when its log is deleted', async () => {
  const directory = testDirectory()
  const service = startServiceProcess(directory)
  onTestFinished(() => service.kill())
  const client = createClient(await service.listening)
  await client.post('/api/install', { password: PASSWORD, setupCode: service.setupCode() })
  const send = (index: number) => ({ content: `Hello ${index}`, clientMessageId: `hello-${index}` })
  const turns: string[] = []
  for (let index = 0; index < 5; index += 1)
    turns.push((await client.post('/api/chat', send(index))).json.turnId)
  const ended = once(service.child, 'exit')
  rmSync(`${ledgerFile(directory)}-wal`)
  // The service may notice before this request, or exit while it answers. It never acknowledges.
  const refusal = await client.post('/api/chat', send(5)).then(
    ({ status }) => status,
    (error) => error.code,
  )
  expect([503, 'ECONNRESET', 'ECONNREFUSED']).toContain(refusal)
  expect(await ended).toEqual([1, null])
  expect(service.output()).toMatch(
    /was moved, deleted or replaced while the service ran\. Its content is saved/,
  )

  const next = startServiceProcess(directory)
  onTestFinished(() => next.kill())
  const again = createClient(await next.listening)
  again.useCookie(client.cookie())
  for (const [index, turnId] of turns.entries())
    expect((await again.post('/api/chat', send(index))).json.turnId).toBe(turnId)
  expect((await again.post('/api/chat', send(5))).status).toBe(200)
})
