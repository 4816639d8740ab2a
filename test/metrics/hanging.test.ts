import { expect, test } from 'vitest'
import { metricsRoutes } from '../../src/http/routes/metrics.ts'
import { createRoutes } from '../../src/http/server/env.ts'
import { buildMetrics } from '../../src/metrics/index.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestStorage } from '../support/storage.ts'
import { parseExposition } from './exposition.ts'

test('shows what is known while the disk hangs, and is not ready', { tags: ['long'] }, async () => {
  const storage = await openTestStorage(testDirectory())
  const metrics = buildMetrics({
    storage,
    allowance: () => [{ window: 'day', spentMicros: 2_500_000, limitMicros: 20_000_000 }],
    isHalted: () => false,
    lastBackupAt: () => null,
    kindOf: () => 'other',
    nowMs: Date.now,
  })
  const never = () => new Promise<never>(() => undefined)
  const routes = createRoutes()
  metricsRoutes(routes, {
    metrics,
    storage: { ...storage, status: never },
    isMonitor: () => true,
    version: '1.2.3',
    checkHealth: never,
    openSockets: () => 3,
  })
  const answer = await routes.request('/metrics', {}, { incoming: {} })
  const { samples } = parseExposition(await answer.text())
  expect(samples.get('delegate_ready')).toBe(0)
  expect(samples.get('delegate_money_spent_dollars{window="day"}')).toBe(2.5)
  expect(samples.get('delegate_open_sockets')).toBe(3)
  expect(samples.get('delegate_build_info{version="1.2.3"}')).toBe(1)
  expect([...samples.keys()].filter((name) => /health|disk|view_lag/.test(name))).toEqual([])
})

test('shows what can be read while the views cannot, and reports why', async () => {
  const storage = await openTestStorage(testDirectory())
  const faults: unknown[] = []
  const metrics = buildMetrics({
    storage: { ...storage, reportFault: (error) => void faults.push(error) },
    allowance: () => [{ window: 'day', spentMicros: 0, limitMicros: 1 }],
    isHalted: () => false,
    lastBackupAt: () => null,
    kindOf: () => 'other',
    nowMs: Date.now,
  })
  const seen = { health: null, isReady: false, status: null, openSockets: 1, version: '1' }
  const namesIn = ({ text }: { readonly text: string }) => [...parseExposition(text).samples.keys()]
  expect(namesIn(await metrics.scrape(seen))).toContain('delegate_notifications_unseen')
  storage.views.close()
  const names = namesIn(await metrics.scrape(seen))
  expect(names).toEqual(
    expect.arrayContaining(['delegate_ready', 'delegate_ledger_seq', 'delegate_open_sockets']),
  )
  expect(names).not.toContain('delegate_notifications_unseen')
  expect(faults.length).toBeGreaterThan(0)
})
