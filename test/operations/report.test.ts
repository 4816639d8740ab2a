import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'

/** The keys of an object at every depth; a list counts as a value. */
function shapeOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return true
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]))
}

const names = (list: string) => Object.fromEntries(list.split(' ').map((name) => [name, true]))

test('reports exactly the figures of the contract, with null rates without observations', async () => {
  const { client } = await startWholeService()
  const report = (await client.get('/api/session/operations')).json
  expect(shapeOf(report)).toEqual({
    window: names('hours from to'),
    context: {
      ...names('scope automaticCompactions'),
      usage: names('records inputTokens outputTokens cachedTokens'),
      capsule: names('written active updatedAt'),
      manualCompaction: names('attempts successes failures successRate'),
    },
    copilotDelivery: names(
      'scope attempts successes failedAttempts retriedAttempts finalFailures attemptSuccessRate retryRate',
    ),
    texts: names('scope attempts failedAttempts notSent'),
    timelinePaging: names(
      'scope since initialPageRequests olderPageRequests eventsSent expandedEvents maxPageEvents',
    ),
    memory: {
      ...names('scope surfaced suppressed'),
      lateResults: names('surfaced duplicate irrelevant expired'),
      deduplication: names('scope since candidates inserted reinforced merged discarded suppressed'),
    },
    guests: names('scope textsOverBudget callsOverBudget'),
    model: names('scope turns failures inputTokens outputTokens cachedTokens'),
  })
  expect(report.window.hours).toBe(24)
  expect(report.copilotDelivery).toMatchObject({ attempts: 0, attemptSuccessRate: null, retryRate: null })
  expect(report.context.manualCompaction.successRate).toBeNull()
  expect([report.timelinePaging.scope, report.memory.deduplication.scope]).toEqual([
    'process_runtime',
    'process_runtime',
  ])
  for (const path of ['/api/session/operations', '/api/session/operations/series'])
    for (const hours of ['0', '721', '1.5', 'week', '', '1e1', '0x10', '24.0', '%2B24', '%2024'])
      expect([hours, (await client.get(`${path}?hours=${hours}`)).status]).toEqual([hours, 400])
})

test('reports a course by minute, hour or day that covers the window and sums to the report', async () => {
  const { client } = await startWholeService()
  await client.post('/api/chat', { content: 'Hello' })
  for (const [hours, grain, points] of [
    [1, 'minute', 61],
    [24, 'hour', 25],
    [720, 'day', 31],
  ] as const) {
    const { json } = await client.get(`/api/session/operations/series?hours=${hours}`)
    expect(json).toMatchObject({ grain, window: { hours } })
    const { window } = (await client.get(`/api/session/operations?hours=${hours}`)).json
    expect(Date.parse(window.to) - Date.parse(window.from)).toBe(hours * 3_600_000)
    expect(json.points).toHaveLength(points)
    const turns = json.points.reduce(
      (sum: number, { counts }: { counts: { turns?: number } }) => sum + (counts.turns ?? 0),
      0,
    )
    expect(turns).toBe((await client.get(`/api/session/operations?hours=${hours}`)).json.model.turns)
    expect(turns).toBe(1)
  }
})
