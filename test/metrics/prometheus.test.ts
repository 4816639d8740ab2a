// @module-tag long

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createWaitingServer } from '../../src/http/waiting.ts'
import { buildMetrics } from '../../src/metrics/index.ts'
import { startWithModel } from '../browser/model.ts'
import { httpFaults } from '../doubles/model/script.ts'
import { testDirectory } from '../support/directory.ts'
import { lastingPort } from '../support/lasting-port.ts'
import { hasProgram, outputOf } from '../support/programs.ts'
import { startWholeService } from '../support/service.ts'
import { mountSmallDisk } from '../support/small-disk.ts'
import { openTestStorage } from '../support/storage.ts'
import { newId } from '../support/writer.ts'

const RULES = 'docs/monitoring/alerts.yml'
const DAY_MS = 86_400_000

test.skipIf(!hasProgram('promtool'))('the alerts are valid rules, and pass their tests', () => {
  expect(outputOf('promtool', ['check', 'rules', RULES]).toString()).toContain('SUCCESS')
  expect(outputOf('promtool', ['test', 'rules', 'docs/monitoring/alerts.test.yml']).toString()).toContain(
    'SUCCESS',
  )
})

test.skipIf(!hasProgram('promtool'))('promtool finds nothing to complain about in the metrics', async () => {
  const service = await startWholeService()
  await service.client.get('/metrics')
  await service.client.post('/api/chat', { content: 'Hello.' })
  const { text } = await service.client.get('/metrics')
  const own = text
    .split('\n')
    .filter((line) => /^(?:# \w+ )?delegate_/.test(line))
    .join('\n')
  // Throws if it exits with anything but 0.
  expect(outputOf('promtool', ['check', 'metrics'], Buffer.from(`${own}\n`)).toString()).toBe('')
})

/** Prometheus itself, which scrapes and evaluates every second. The time that a fault must last is cut to a second. */
async function startPrometheus(targets: readonly string[]) {
  const directory = testDirectory()
  const port = await lastingPort()
  const rules = join(directory, 'alerts.yml')
  writeFileSync(rules, readFileSync(RULES, 'utf8').replaceAll(/for: \d+m/g, 'for: 1s'))
  const config = join(directory, 'prometheus.yml')
  const settings = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: [rules],
    scrape_configs: [{ job_name: 'delegate', static_configs: [{ targets }] }],
  }
  // JSON is YAML, too.
  writeFileSync(config, JSON.stringify(settings))
  const child = spawn(
    'prometheus',
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  )
  const exit = once(child, 'exit')
  onTestFinished(async () => {
    child.kill()
    await exit
  })
  return {
    /** The alerts that fire at a target. */
    async firing(target: string): Promise<string[]> {
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/alerts`).catch(() => null)
      if (!answer?.ok) return ['no answer']
      const { data } = (await answer.json()) as {
        data: { alerts: { state: string; labels: Record<string, string> }[] }
      }
      return data.alerts
        .filter(({ state, labels }) => state === 'firing' && labels.instance === target)
        .map(({ labels }) => labels.alertname ?? '')
        .toSorted()
    },
  }
}

/** A target whose last backup is three days old, or was never made. */
async function serveBackups(lastBackupAt: string | null): Promise<string> {
  const storage = await openTestStorage(testDirectory())
  const metrics = buildMetrics({
    storage,
    allowance: () => [],
    isHalted: () => false,
    kindOf: () => 'other',
    lastBackupAt: () => lastBackupAt,
    nowMs: Date.now,
  })
  const seen = { health: null, isReady: true, status: null, openSockets: 0, version: '1' }
  const server = createServer(async (_incoming, outgoing) => {
    const { text, contentType } = await metrics.scrape(seen)
    outgoing.setHeader('content-type', contentType).end(text)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return `127.0.0.1:${typeof address === 'object' ? address?.port : address}`
}

async function serveStandby(): Promise<string> {
  const port = await lastingPort()
  const listening = Promise.withResolvers<number>()
  const standby = createWaitingServer({
    port: Number(port),
    host: '127.0.0.1',
    newId,
    metricsToken: null,
    onListening: listening.resolve,
  })
  standby.showStandby({
    ...{ mode: 'commit', role: 'standby', node: 'two', holder: 'one', epoch: 3 },
    ...{ lag: 4_000, behindSince: null, fault: null },
  })
  await listening.promise
  onTestFinished(standby.close)
  return `127.0.0.1:${port}`
}

test.skipIf(!hasProgram('prometheus'))(
  'Prometheus scrapes the service, and its alerts fire and end',
  async ({ skip }) => {
    const disk = mountSmallDisk(24)
    if (disk === null) return skip('no file system can be mounted here')
    const { service, model } = await startWithModel()
    const full = await startWholeService({ directory: disk.directory })
    const targetOf = ({ port }: { readonly port: number }) => `127.0.0.1:${port}`
    const [old, none, fresh] = [
      await serveBackups(new Date(Date.now() - 3 * DAY_MS).toISOString()),
      await serveBackups(null),
      await serveBackups(new Date().toISOString()),
    ]
    const standby = await serveStandby()
    const { firing } = await startPrometheus([targetOf(service), targetOf(full), old, none, fresh, standby])
    const fires = (target: string, alerts: readonly string[]) =>
      expect.poll(() => firing(target)).toEqual(alerts)

    // Neither service makes backups.
    await fires(targetOf(full), ['DelegateBackupOverdue', 'DelegateDiskNearlyFull'])
    await fires(old, ['DelegateBackupOverdue'])
    await fires(none, ['DelegateBackupOverdue'])
    await fires(standby, ['DelegateStandbyNotFollowing'])
    await fires(fresh, [])

    model.reply({ fault: httpFaults.unauthorised() })
    await service.client.post('/api/chat', { content: 'Hello.' })
    await fires(targetOf(service), ['DelegateBackupOverdue', 'DelegateModelFailing'])
    model.reply({ text: 'Hello.' })
    await service.client.post('/api/chat', { content: 'And now?' })
    await fires(targetOf(service), ['DelegateBackupOverdue'])

    disk.fill()
    await fires(targetOf(full), ['DelegateBackupOverdue', 'DelegateDiskNearlyFull', 'DelegateNotReady'])
    await service.stop()
    await fires(targetOf(service), ['DelegateDown'])
    await full.stop()
  },
)
