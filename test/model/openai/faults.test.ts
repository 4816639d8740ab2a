import { setImmediate } from 'node:timers/promises'
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { failureTextOf } from '../../../src/model/failure-text.ts'
import { ModelError } from '../../../src/model/port.ts'
import { type At, type Fault, httpFaults } from '../../doubles/model/script.ts'
import { holdUp } from '../../support/hold-up.ts'
import { API_KEY, never, noteTool, request, run, setUp, stoppedTime } from './fixture.ts'
import { startRawServer } from './raw-server.ts'

const limits = {
  attempts: 3,
  backoffMs: 10,
  maxBackoffMs: 1000,
  firstEventMs: 77_000,
  idleMs: 77_000,
  maxResponseBytes: 200_000,
}
const answer = {
  text: ['one ', 'two ', 'three'],
  toolCalls: [{ name: 'create_note', arguments: { title: null, content: 'x' } }],
}
/** Before the headers; before, between and after the deltas; inside a call; before the last event. */
const places: readonly At[] = [
  'headers',
  0,
  'response.output_text.delta',
  6,
  'response.function_call_arguments.delta',
  99,
]
const faults: readonly [string, (at: At) => Fault, string][] = [
  ['hangs', (at) => ({ kind: 'hang', at }), 'timeout'],
  ['drips', (at) => ({ kind: 'drip', at, intervalMs: 5 }), 'timeout'],
  ['is cut', (at) => ({ kind: 'cut', at }), 'unavailable'],
  ['ends early', (at) => ({ kind: 'ends', at }), 'unavailable'],
  ['breaks its JSON', (at) => ({ kind: 'malformed', at }), 'malformed'],
  ['sends nonsense', (at) => ({ kind: 'nonsense', at }), 'malformed'],
  ['grows without bounds', (at) => ({ kind: 'huge', at, bytes: 10_000_000 }), 'malformed'],
  ['reports an error', (at) => ({ kind: 'error', at, code: 'server_error', message: 'oops' }), 'unavailable'],
]
// Before the headers there is no stream, so only some faults can happen.
const beforeHeaders = new Set(['hangs', 'is cut'])
const cases = faults.flatMap(([name, fault, kind]) =>
  places
    .filter((at) => at !== 'headers' || beforeHeaders.has(name))
    .map((at) => [name, at, fault(at), kind] as const),
)

/** How many deltas arrive before a place. */
function deltasBefore(at: At): number {
  if (at === 'headers' || at === 0 || at === 'response.output_text.delta') return 0
  return at === 6 ? 2 : 3
}

/** Expires the idle time once the service has stalled and everything it sent has arrived. */
async function idleAfter(deltas: readonly string[], expected: number, expireIdle: () => void): Promise<void> {
  do await setImmediate()
  while (deltas.length < expected)
  expireIdle()
}

test.for(cases)(
  'ends a stream that %s at %s in one typed error, and retries unless it hung or a delta arrived',
  async ([, at, fault, kind]) => {
    const { timing, expireIdle } = stoppedTime(limits.idleMs)
    const { double, service } = await setUp({ dependencies: { limits, timing } })
    double.answerWith(() => ({ ...answer, fault }))
    const said = deltasBefore(at)
    const tries = said === 0 && kind === 'unavailable' ? limits.attempts : 1
    const deltas: string[] = []
    const turn = run(service, request({ tools: [noteTool] }), never(), deltas)
    for (let stall = 1; kind === 'timeout' && stall <= tries; stall += 1) {
      await double.stalled(stall)
      await idleAfter(deltas, said, expireIdle)
    }
    const { error, completed } = await turn
    expect(completed).toBeNull()
    expect(error).toBeInstanceOf(ModelError)
    expect(error).toMatchObject({ kind })
    expect(deltas).toEqual(answer.text.slice(0, said))
    expect(double.requests('/responses')).toHaveLength(tries)
  },
)

test.for(cases)('runs the next turn after a stream that %s at %s', async ([, at, fault, kind]) => {
  const { timing, expireIdle } = stoppedTime(limits.idleMs)
  const { double, service } = await setUp({ dependencies: { limits: { ...limits, attempts: 1 }, timing } })
  double.reply({ ...answer, fault }, { text: 'Here I am.' })
  const deltas: string[] = []
  const turn = run(service, request({ tools: [noteTool] }), never(), deltas)
  if (kind === 'timeout') {
    await double.stalled(1)
    await idleAfter(deltas, deltasBefore(at), expireIdle)
  }
  expect((await turn).error).toBeInstanceOf(ModelError)
  expect((await run(service)).completed?.text).toBe('Here I am.')
})

test.for([
  ['hangs', { kind: 'hang', at: 4 }, { idleMs: 30 }],
  ['hangs before its headers', { kind: 'hang', at: 'headers' }, { firstEventMs: 30 }],
  ['drips', { kind: 'drip', at: 4, intervalMs: 1 }, { idleMs: 30 }],
  ['drips on and on', { kind: 'drip', at: 4, intervalMs: 1 }, { deadlineMs: 60 }],
] as const)('gives up a stream that %s after its time limit', async ([, fault, bounds]) => {
  const { double, service } = await setUp({ dependencies: { limits: { ...bounds, attempts: 1 } } })
  double.answerWith(() => ({ ...answer, fault }))
  expect((await run(service)).error).toMatchObject({ name: 'ModelError', kind: 'timeout' })
})

test('does not count time that this process was blocked as silence of the service', async () => {
  const { double, service } = await setUp({ dependencies: { limits: { idleMs: 800, attempts: 1 } } })
  const { promise: until, resolve: goOn } = Promise.withResolvers<void>()
  double.reply({ text: ['one ', 'two'], pause: { at: 5, until } })
  const deltas: string[] = []
  const turn = run(service, request(), never(), deltas)
  await expect.poll(() => deltas, { interval: 5 }).toEqual(['one '])
  await holdUp(1_200)
  goOn()
  expect((await turn).completed?.text).toBe('one two')
})

test.for([
  ['401', httpFaults.unauthorised(API_KEY), 'auth', 1],
  ['429', httpFaults.rateLimited(), 'rate_limited', 3],
  ['429 for the quota', httpFaults.outOfQuota(), 'quota', 1],
  ['500', httpFaults.serverError(), 'unavailable', 3],
  ['a context that is too long', httpFaults.contextTooLong(), 'context_too_long', 1],
  ['400', httpFaults.badRequest('Invalid value.', 'input[0]'), 'malformed', 1],
  ['404', httpFaults.notFound(), 'unavailable', 1],
  ['408', { kind: 'status', status: 408, body: {} }, 'timeout', 3],
  ['413', { kind: 'status', status: 413, body: {} }, 'context_too_long', 1],
  [
    '502 in HTML',
    { kind: 'status', status: 502, body: '<html>', headers: { 'content-type': 'text/html' } },
    'unavailable',
    3,
  ],
  [
    'a redirect',
    { kind: 'status', status: 308, body: {}, headers: { location: 'http://127.0.0.1:1/' } },
    'unavailable',
    1,
  ],
] as const)('classifies %s', async ([, fault, kind, tries]) => {
  const { double, service } = await setUp({ dependencies: { limits } })
  double.answerWith(() => ({ fault }))
  const { error } = await run(service)
  expect(error).toMatchObject({ name: 'ModelError', kind })
  expect(double.requests('/responses')).toHaveLength(tries)
})

test.each([
  "model 'default' not found",
  'The model `default` does not exist or you do not have access to it.',
])('tells the owner that the service does not have the model, without trying again: %s', async (message) => {
  const { double, service } = await setUp({ dependencies: { limits } })
  double.answerWith(() => ({ fault: httpFaults.notFound(message) }))
  const { error } = await run(service)
  expect(error).toMatchObject({
    kind: 'unavailable',
    message: expect.stringMatching(/does not have the chosen model/),
  })
  expect(failureTextOf('unavailable', error)).toBe((error as Error).message)
})

test('recovers from a transient failure', async () => {
  const { double, service, waits } = await setUp({ dependencies: { limits } })
  double.reply(
    { fault: httpFaults.serverError() },
    { text: 'late', fault: { kind: 'cut', at: 3 } },
    { text: 'Hello.' },
  )
  const { completed, deltas } = await run(service)
  expect(deltas).toEqual(['Hello.'])
  expect(completed?.text).toBe('Hello.')
  expect(waits).toHaveLength(2)
})

test('doubles the backoff and applies jitter below its ceiling', async () => {
  const { double, waits, another } = await setUp()
  const service = another(
    {},
    { limits: { attempts: 4, backoffMs: 100, maxBackoffMs: 10_000, deadlineMs: 100_000 } },
  )
  double.answerWith(() => ({ fault: httpFaults.serverError() }))
  await run(service)
  expect(waits).toEqual([200, 400, 800])
})

test('honours Retry-After in seconds and as a date', async () => {
  const { double, service, waits } = await setUp({
    dependencies: { limits: { maxBackoffMs: 20_000, backoffMs: 1 } },
  })
  const inTenSeconds = new Date(Date.now() + 10_000).toUTCString()
  double.reply(
    { fault: httpFaults.rateLimited('7') },
    { fault: httpFaults.rateLimited(inTenSeconds) },
    { text: 'Thanks for waiting.' },
  )
  expect((await run(service)).completed?.text).toBe('Thanks for waiting.')
  expect(waits[0]).toBe(7000)
  expect(waits[1]).toBeGreaterThan(0)
  expect(waits[1]).toBeLessThanOrEqual(10_000)
})

test('reports a Retry-After above the limit instead of waiting', async () => {
  const { double, service, waits } = await setUp({ dependencies: { limits } })
  double.reply({ fault: httpFaults.rateLimited('3600') })
  expect((await run(service)).error).toMatchObject({ kind: 'rate_limited', retryAfterMs: 3_600_000 })
  expect(waits).toEqual([])
})

test('retries a failed request after the clock jumped ahead or the machine slept', async () => {
  let aheadMs = 0
  const timing = { ...stoppedTime(0).timing, nowMs: () => Date.now() + aheadMs }
  const { double, service } = await setUp({ dependencies: { limits, timing } })
  double.answerWith(() => {
    const isFirst = aheadMs === 0
    aheadMs = 3_600_000
    return isFirst ? { fault: httpFaults.serverError() } : { text: 'Hello.' }
  })
  expect((await run(service)).completed?.text).toBe('Hello.')
})

test('ends the turn with the abort reason when stopped during the backoff', async () => {
  const reason = new Error('the owner said stop')
  const stop = new AbortController()
  const { double, another } = await setUp()
  const sleepUntilAborted = (_ms: number, signal: AbortSignal) =>
    new Promise<void>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('woken')))
      stop.abort(reason)
    })
  const { systemTiming } = await import('../../../src/model/openai/timing.ts')
  const service = another({}, { timing: { ...systemTiming, sleep: sleepUntilAborted } })
  double.answerWith(() => ({ fault: httpFaults.serverError() }))
  expect((await run(service, request(), stop.signal)).error).toBe(reason)
  expect(double.requests('/responses')).toHaveLength(1)
})

test('reports a refused connection as unavailable', async () => {
  const { another } = await setUp()
  const service = another({ baseUrl: 'http://127.0.0.1:9/v1' })
  const { error } = await run(service)
  expect(error).toMatchObject({ kind: 'unavailable' })
  expect(String(error)).toContain('http://127.0.0.1:9')
})

test('rejects a web page as malformed', async () => {
  const { another } = await setUp()
  const baseUrl = await startRawServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>hello</html>'),
  )
  expect((await run(another({ baseUrl }))).error).toMatchObject({ kind: 'malformed' })
})

test('accepts a response that is not streamed', async () => {
  const { double, another } = await setUp()
  const reply = {
    id: 'r',
    status: 'completed',
    output: [{ type: 'message', role: 'assistant', content: 'All at once.' }],
  }
  const baseUrl = await startRawServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply)),
  )
  const { deltas, completed } = await run(another({ baseUrl }))
  expect(deltas).toEqual(['All at once.'])
  expect(completed?.text).toBe('All at once.')
  expect(completed?.usage.inputTokens).toBeGreaterThan(0)
  expect(double.requests()).toHaveLength(0)
})

test.for([
  ['echoed by the service', httpFaults.unauthorised(API_KEY)],
  ['echoed in JSON', httpFaults.badRequest(`Bad header "Bearer ${API_KEY}"`)],
  ['echoed in a 500', { kind: 'status', status: 500, body: `key=${API_KEY}` } as const],
  ['echoed in the stream', { kind: 'error', at: 0, code: API_KEY, message: `key ${API_KEY}` } as const],
] as const)('keeps a key that is %s out of the error and its causes', async ([, fault]) => {
  const { double, service } = await setUp({ dependencies: { limits: { ...limits, attempts: 1 } } })
  double.reply({ text: 'x', fault })
  const { error } = await run(service)
  expect(error).toBeInstanceOf(ModelError)
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('canary')
})
