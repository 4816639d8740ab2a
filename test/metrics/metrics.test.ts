import { expect, test } from 'vitest'
import { openLedgerReadOnly } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { startWithModel } from '../browser/model.ts'
import { httpFaults } from '../doubles/model/script.ts'
import { openTab } from '../support/chat-tab.ts'
import { startWholeService, type WholeService } from '../support/service.ts'
import { parseExposition } from './exposition.ts'

async function scrape({ client }: WholeService) {
  return parseExposition((await client.get('/metrics')).text)
}

/** All that a monitor may see, apart from `process_` and `nodejs_`. */
const NAMES = [
  'delegate_backup_age_seconds',
  'delegate_build_info',
  'delegate_deliveries_total',
  'delegate_deliveries_waiting',
  'delegate_disk_free_bytes',
  'delegate_halted',
  'delegate_health',
  'delegate_ledger_seq',
  'delegate_model_request_seconds',
  'delegate_model_requests_total',
  'delegate_model_tokens_total',
  'delegate_money_allowance_dollars',
  'delegate_money_spent_dollars',
  'delegate_notifications_total',
  'delegate_notifications_unseen',
  'delegate_open_sockets',
  'delegate_postgres_epoch',
  'delegate_postgres_holder',
  'delegate_postgres_lag_events',
  'delegate_postgres_up',
  'delegate_reactor_ok',
  'delegate_reactor_pending',
  'delegate_ready',
  'delegate_storage_requests',
  'delegate_turn_seconds',
  'delegate_turns_total',
  'delegate_view_lag_events',
]

test('describes each metric, and takes labels from fixed sets', async () => {
  const service = await startWholeService()
  await service.client.post('/api/chat', { content: 'Hello.' })
  const { families, labels } = await scrape(service)
  expect([...families.keys()].filter((name) => name.startsWith('delegate_')).toSorted()).toEqual(NAMES)
  for (const [name, { type }] of families)
    if (name.endsWith('_total') && name.startsWith('delegate_'))
      expect([name, type]).toEqual([name, 'counter'])
  for (const name of families.keys()) expect(name).toMatch(/^(?:delegate|process|nodejs)_/)
  expect([...(labels.get('check') ?? [])].toSorted()).toEqual([
    'backups',
    'disk',
    'ledger',
    'model',
    'projections',
    'reactors',
    'settings',
  ])
  expect(labels.get('reactor')).toContain('idle_spans')
  expect(labels.get('view')).toContain('timeline')
  expect(labels.get('window')).toEqual(new Set(['day', 'month']))
})

test('counts turns and requests to the model by their outcome, and money and tokens', async () => {
  const { service, model } = await startWithModel()
  const { client } = service
  // Counting begins with the first scrape.
  const first = await scrape(service)
  expect(first.samples.get('delegate_turns_total{channel="chat",outcome="completed"}')).toBeUndefined()
  model.reply({ text: 'Hello.', usage: { inputTokens: 120, outputTokens: 7, cachedTokens: 20 } })
  await client.post('/api/chat', { content: 'Hello.' })
  const { samples } = await scrape(service)
  const of = (name: string) => samples.get(name)
  expect(of('delegate_turns_total{channel="chat",outcome="completed"}')).toBe(1)
  expect(of('delegate_turn_seconds_count{channel="chat"}')).toBe(1)
  expect(of('delegate_model_requests_total{purpose="reply",service="other",outcome="ok"}')).toBe(1)
  expect(of('delegate_model_request_seconds_count{purpose="reply",service="other"}')).toBe(1)
  expect(of('delegate_model_tokens_total{purpose="reply",service="other",kind="input"}')).toBe(120)
  expect(of('delegate_model_tokens_total{purpose="reply",service="other",kind="output"}')).toBe(7)
  expect(of('delegate_model_tokens_total{purpose="reply",service="other",kind="cached"}')).toBe(20)
  expect(of('delegate_money_allowance_dollars{window="day"}')).toBe(20)
  const { windows } = (await client.get('/api/spending?days=1')).json
  expect(of('delegate_money_spent_dollars{window="day"}')).toBeGreaterThan(0)
  expect(of('delegate_money_spent_dollars{window="day"}')).toBeCloseTo(windows[0].spentMicros / 1e6, 3)
  expect(of('delegate_health{check="model"}')).toBe(1)

  model.reply({ fault: httpFaults.unauthorised() })
  await client.post('/api/chat', { content: 'And now?' })
  const after = (await scrape(service)).samples
  expect(after.get('delegate_model_requests_total{purpose="reply",service="other",outcome="auth"}')).toBe(1)
  expect(after.get('delegate_turns_total{channel="chat",outcome="auth"}')).toBe(1)
  expect(after.get('delegate_health{check="model"}')).toBe(0)
  expect(after.get('delegate_ready')).toBe(1)
})

test('shows backlogs, sockets, the halt and the head, and appends nothing', async () => {
  const service = await startWholeService()
  const { client, directory } = service
  await scrape(service)
  const tab = await openTab(service)
  await client.post('/api/timers', { title: 'Tea', at: '2090-01-01T00:00:00Z' })
  await client.post('/api/halt', {})
  const head = () => {
    const db = openLedgerReadOnly(directory)
    const { seq } = createReader(db).head()
    db.close()
    return seq
  }
  const { samples } = await scrape(service)
  const before = head()
  expect(samples.get('delegate_ledger_seq')).toBe(before)
  expect(samples.get('delegate_open_sockets')).toBe(1)
  expect(samples.get('delegate_halted')).toBe(1)
  expect(samples.get('delegate_view_lag_events{view="timeline"}')).toBe(0)
  expect(samples.get('delegate_reactor_pending{reactor="timers"}')).toBe(0)
  expect(samples.get('delegate_reactor_ok{reactor="timers"}')).toBe(1)
  expect(samples.get('delegate_disk_free_bytes')).toBeGreaterThan(0)
  expect(samples.get('delegate_storage_requests')).toBe(0)
  // Without PostgreSQL it is not known how it is.
  expect([...samples.keys()].filter((name) => name.startsWith('delegate_postgres_'))).toEqual([])
  for (let round = 0; round < 3; round += 1) await scrape(service)
  expect(head()).toBe(before)
  expect(tab.heard.length).toBeGreaterThan(0)
})

test('two scrapes at once count each fact once', async () => {
  const service = await startWholeService()
  await scrape(service)
  await service.client.post('/api/chat', { content: 'Hello.' })
  const both = await Promise.all([scrape(service), scrape(service)])
  for (const { samples } of both)
    expect(samples.get('delegate_turns_total{channel="chat",outcome="completed"}')).toBe(1)
})
