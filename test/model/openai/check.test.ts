import { expect, test } from 'vitest'
import { httpFaults } from '../../doubles/model/script.ts'
import { API_KEY, never, setUp } from './fixture.ts'

const summary = ({ ok, steps }: { ok: boolean; steps: readonly { name: string; ok: boolean }[] }) => [
  ok,
  ...steps.map((step) => `${step.name} ${step.ok}`),
]

test('passes a service that is reachable, authorised and has the model', async () => {
  const { service } = await setUp()
  expect(summary(await service.check(never()))).toEqual([
    true,
    'reachable true',
    'authorised true',
    'model true',
  ])
})

test('reports an address where nothing listens as not reachable', async () => {
  const { another } = await setUp()
  expect(summary(await another({ baseUrl: 'http://127.0.0.1:9/v1' }).check(never()))).toEqual([
    false,
    'reachable false',
  ])
})

test('reports a wrong key as not authorised, without repeating it', async () => {
  const { another } = await setUp()
  const check = await another({ apiKey: 'sk-wrong-canary-key' }).check(never())
  expect(summary(check)).toEqual([false, 'reachable true', 'authorised false'])
  expect(JSON.stringify(check)).not.toContain('canary')
})

test('lists the available models when the chosen one is missing', async () => {
  const { service } = await setUp({ double: { models: ['llama', 'qwen'] } })
  const check = await service.check(never())
  expect(summary(check)).toEqual([false, 'reachable true', 'authorised true', 'model false'])
  expect(check.steps.at(-1)?.detail).toContain('llama, qwen')
})

test('accepts a key that may not list models', async () => {
  const { double, service } = await setUp()
  const body = { error: { message: 'Missing scopes: api.model.read' } }
  double.replyTo('/models', { fault: { kind: 'status', status: 403, body } })
  expect(summary(await service.check(never()))).toEqual([
    true,
    'reachable true',
    'authorised true',
    'model true',
  ])
})

test('accepts a server that does not list its models', async () => {
  const { double, service } = await setUp()
  double.replyTo('/models', { fault: httpFaults.notFound() })
  expect(summary(await service.check(never()))).toEqual([
    true,
    'reachable true',
    'authorised true',
    'model true',
  ])
})

test.for([
  ['hangs', { kind: 'hang', at: 'headers' }, 'reachable false'],
  ['fails', httpFaults.serverError(), 'authorised false'],
  ['answers nonsense', { kind: 'nonsense', at: 0 }, 'reachable false'],
] as const)('fails the check of a service that %s, without a retry', async ([, fault, last]) => {
  const { double, service } = await setUp({
    dependencies: { limits: fault.kind === 'hang' ? { deadlineMs: 150 } : {} },
  })
  double.replyTo('/models', { fault })
  const check = await service.check(never())
  expect(summary(check).at(-1)).toBe(last)
  expect(check.ok).toBe(false)
  expect(JSON.stringify(check)).not.toContain(API_KEY)
  expect(double.requests('/models')).toHaveLength(1)
})

test('rejects with the abort reason', async () => {
  const { double, service } = await setUp()
  double.replyTo('/models', { fault: { kind: 'hang', at: 'headers' } })
  const reason = new Error('never mind')
  await expect(service.check(AbortSignal.abort(reason))).rejects.toBe(reason)
})
