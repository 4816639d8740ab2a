import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { filesHolding, testDirectory } from '../support/directory.ts'
import { startWholeService, type WholeService } from '../support/service.ts'
import { erase, openTestWriter } from '../support/writer.ts'

const CANARY = 'heliotrope4417'
type Group = { kind: string; count: number; items: { text: string }[] }
type Event = { seq: number; type: string; at: string; spanId: string; payload: Record<string, unknown> }

/** A model that calls the requested tool, and reports whether its input holds the canary. */
async function startObeying(options: { directory?: string; nowMs?: () => number } = {}) {
  const double = await startModelDouble()
  onTestFinished(() => double.close())
  double.answerWith(({ body, text }) => {
    const input = Array.isArray(body.input) ? body.input : []
    const last = input.at(-1)
    if (last?.type === 'function_call_output') return { text: 'Done.' }
    const order = /do (\w+) (\{.*?\})/.exec(
      JSON.stringify(last).replaceAll('\\"', '"').replaceAll('\\\\', ''),
    )
    if (order?.[1]) return { toolCalls: [{ name: order[1], arguments: order[2] }] }
    const words = JSON.stringify(last)
    if (words.includes('Remember that'))
      return {
        toolCalls: [{ name: 'remember', arguments: JSON.stringify({ text: `I am allergic to ${CANARY}` }) }],
      }
    const readable = `${text}${JSON.stringify(body.instructions)}`
    return { text: readable.includes(CANARY) ? `You mentioned ${CANARY} before.` : 'I know nothing of it.' }
  })
  const service = await startWholeService({
    ...options,
    environment: {
      OPENAI_API_KEY: 'sk-test-key-of-the-double',
      OPENAI_BASE_URL: double.url,
      CHAT_MODEL: 'test-model',
    },
  })
  const say = async (content: string) => {
    const answer = await service.client.post('/api/chat', { content })
    expect(answer.status, answer.text).toBe(200)
    return answer.json.reply.text as string
  }
  return { service, client: service.client, say }
}

const eventsOf = async ({ client }: Pick<WholeService, 'client'>): Promise<Event[]> =>
  (await client.get('/api/timeline?limit=5000')).json.events

async function shown({ client }: Pick<WholeService, 'client'>): Promise<string> {
  const pages = [
    '/api/timeline?limit=5000',
    `/api/timeline/search?q=${CANARY}`,
    '/api/notes',
    `/api/notes?q=${CANARY}`,
    '/api/notes?deleted=true',
    '/api/memories',
    `/api/memories?q=${CANARY}`,
    '/api/adaptations',
    '/api/adaptations.preview',
    '/api/session/context',
    '/api/timers',
    '/api/memories/insights',
  ]
  const answers = await Promise.all(pages.map((page) => client.get(page)))
  return answers.map(({ text }) => text).join('\n')
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const untilMs = performance.now() + 60_000; performance.now() < untilMs; ) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`timed out waiting for: ${what}`)
}

const hasStatus = (client: WholeService['client'], id: string, status: string) => async () =>
  (await client.get(`/api/erasures/${id}`)).json.status === status

test('plans an erasure, hides its words at once and restores them on undo', async () => {
  const { service, client, say } = await startObeying()
  await say(`I am allergic to ${CANARY}. Remember that.`)
  await say(`do create_note {"title":"Of ${CANARY}","content":"Note of ${CANARY}"}`)
  expect(await say('What did I mention?')).toContain(CANARY)
  expect((await client.post('/api/session/context/compact')).status).toBe(200)
  expect(await shown(service)).toContain(CANARY)
  const said = (await eventsOf(service)).filter(
    ({ type, payload }) => type === 'chat.message.received' && JSON.stringify(payload).includes(CANARY),
  )
  const span = said[0]?.spanId ?? ''

  // Later learning would change the plan.
  await until('all to be learned', async () => {
    const { runtime } = (await client.get('/api/memories/insights')).json
    return runtime.extraction.unread === 0
  })
  const { json: plan } = await client.get(`/api/erasures.plan?kind=span&id=${span}`)
  const kinds = (groups: Group[]) => Object.fromEntries(groups.map(({ kind, count }) => [kind, count]))
  expect(kinds(plan.named)).toMatchObject({ message: 3, reply: 3 })
  expect({ ...kinds(plan.named), ...kinds(plan.derived) }).toMatchObject({ memory: 1, note: 1, summary: 2 })
  expect(plan.undoMs).toBe(60_000)
  const memory = [...plan.named, ...plan.derived].find(({ kind }: Group) => kind === 'memory')
  expect(memory.items).toMatchObject([{ text: expect.stringContaining(CANARY) }])
  // Planning changes nothing. Learning goes on in the background.
  expect((await client.get('/api/erasures')).json.erasures).toEqual([])
  expect((await client.get(`/api/timeline/spans/${span}`)).text).toContain(CANARY)

  const requested = await client.post('/api/erasures', { kind: 'span', id: span })
  expect(requested.status, requested.text).toBe(201)
  expect(requested.headers.location).toBe(`/api/erasures/${requested.json.id}`)
  expect(requested.json).toMatchObject({
    status: 'pending',
    events: plan.count,
    kind: 'span',
    targetId: span,
  })
  expect(await shown(service)).not.toContain(CANARY)
  expect(filesHolding(service.directory, CANARY)).not.toEqual([])
  expect(await say('What did I mention?')).toBe('I know nothing of it.')
  expect((await client.get(`/api/erasures.plan?kind=span&id=${span}`)).status).toBeLessThan(500)

  const undone = await client.post(`/api/erasures/${requested.json.id}/undo`)
  expect(undone.json.status).toBe('undone')
  expect((await client.post(`/api/erasures/${requested.json.id}/undo`)).json.code).toBe('not_pending')
  expect(await say('What did I mention?')).toContain(CANARY)
  for (const page of ['/api/notes', '/api/memories', `/api/notes?q=${CANARY}`]) {
    expect((await client.get(page)).text).toContain(CANARY)
  }
  expect((await client.get(`/api/timeline/spans/${span}`)).text).toContain(CANARY)
})

test('removes erased words from every file after a minute, across restarts', async () => {
  // The test moves the clock, so that a slow restart does not end the undo period.
  const startedMs = Date.now()
  let skewMs = 0
  const nowMs = () => startedMs + skewMs
  const directory = testDirectory()
  const first = await startObeying({ directory, nowMs })
  const { say } = first
  mkdirSync(join(directory, 'adaptations'))
  writeFileSync(join(directory, 'adaptations', 'from-file.md'), `Think of ${CANARY} from a file.`)
  await first.client.post('/api/adaptations.reload')
  await first.client.post('/api/adaptations/typed', { content: 'First words.' })
  await first.client.post('/api/adaptations/typed', {
    title: `On ${CANARY}`,
    content: `Always say ${CANARY}.`,
  })
  await first.client.post('/api/notes', { content: `My own note of ${CANARY}` })
  await say(`I am allergic to ${CANARY}. Remember that.`)
  await say(`do create_note {"title":null,"content":"Note of ${CANARY}"}`)
  await say('do recall {"query":"allergic"}')
  await say('What did I mention?')
  expect((await first.client.post('/api/session/context/compact')).status).toBe(200)

  const everything = await eventsOf(first.service)
  const spans = new Set(
    everything.flatMap(({ type, spanId }) => (type === 'chat.message.received' ? [spanId] : [])),
  )
  const { notes } = (await first.client.get(`/api/notes?q=own`)).json
  const targets = [
    ...[...spans].map((id) => ({ kind: 'span', id })),
    { kind: 'note', id: notes[0].id },
    { kind: 'adaptation', id: 'typed' },
    { kind: 'adaptation', id: 'from-file' },
  ]
  const ids: string[] = []
  for (const target of targets) {
    const requested = await first.client.post('/api/erasures', target)
    expect(requested.status, JSON.stringify(target) + requested.text).toBe(201)
    ids.push(requested.json.id)
  }
  expect(await shown(first.service)).not.toContain(CANARY)
  await first.service.stop()

  const second = await startObeying({ directory, nowMs })
  expect(await shown(second.service)).not.toContain(CANARY)
  skewMs = 45_000
  await new Promise((resolve) => setTimeout(resolve, 700))
  expect((await second.client.get(`/api/erasures/${ids[0]}`)).json.status).toBe('pending')
  expect(filesHolding(directory, CANARY)).not.toEqual([])
  await second.service.stop()

  // The erasure fell due while the service was stopped.
  skewMs = 3_600_000
  const third = await startObeying({ directory, nowMs })
  for (const id of ids) await until(`erasure ${id}`, hasStatus(third.client, id, 'erased'))
  expect(filesHolding(directory, CANARY)).toEqual([])
  expect(await third.say('What did I mention?')).toBe('I know nothing of it.')
  expect(await shown(third.service)).not.toContain(CANARY)

  const receipt = (await third.client.get(`/api/erasures/${ids[0]}`)).json
  expect(receipt.events).toBeGreaterThan(4)
  expect(receipt.kinds).toContainEqual({ kind: 'message', count: expect.any(Number) })
  expect((await third.client.post(`/api/erasures/${ids[0]}/undo`)).json.code).toBe('not_pending')
  expect((await third.client.get('/api/erasures')).json.erasures).toHaveLength(targets.length)
  // The timeline shows that something was erased, but not what.
  const events = await eventsOf(third.service)
  expect(events.filter(({ type }) => type === 'erasure.completed')).toHaveLength(targets.length)
  expect(events.filter(({ type }) => type === 'chat.message.received').slice(0, 4)).toSatisfy(
    (messages: Event[]) => messages.every(({ payload }) => payload.erased === true),
  )
  expect((await third.client.post('/api/adaptations.reload')).json).toEqual({ loaded: 0, skipped: [] })
})

test('counts everything erased in the receipt after a crash during the erasure', async () => {
  const directory = testDirectory()
  const first = await startObeying({ directory })
  await first.say(`I am allergic to ${CANARY}. Remember that.`)
  await first.say(`do create_note {"title":null,"content":"Note of ${CANARY}"}`)
  const message = (await eventsOf(first.service)).find(({ type }) => type === 'chat.message.received')
  const { json: requested } = await first.client.post('/api/erasures', { kind: 'span', id: message?.spanId })
  await first.service.stop()

  const writer = openTestWriter(directory)
  const by = { actor: 'service', channel: 'system' } as const
  const key = `erasure-ended:${requested.id}`
  writer.append({ type: 'erasure.started', ...by, key, facts: { erasureId: requested.id } })
  const hidden = writer.ledger
    .readAfter(0, 1000)
    .flatMap((event) => (event.type === 'erasure.requested' ? event.facts.seqs : []))
  expect(erase(writer, hidden, new Date().toISOString())).toEqual(hidden)
  writer.close()

  const second = await startObeying({ directory })
  await until('the erasing', hasStatus(second.client, requested.id, 'erased'))
  expect(filesHolding(directory, CANARY)).toEqual([])
  const receipt = (await second.client.get(`/api/erasures/${requested.id}`)).json
  expect(receipt).toMatchObject({ events: requested.events, kinds: requested.kinds })
  expect(receipt.events).toBeGreaterThan(4)
})

test('hides a memory until its erasure, restores it on undo and never relearns it afterwards', async () => {
  let skewMs = 0
  const { service, client, say } = await startObeying({ nowMs: () => Date.now() + skewMs })
  await say(`I am allergic to ${CANARY}. Remember that.`)
  // Learning runs after the reply and strengthens the memory. Compare its state after that.
  await until('its words to be read', async () =>
    (await eventsOf(service)).some(({ type }) => type === 'memory.extraction.completed'),
  )
  const list = async () => (await client.get('/api/memories')).json
  const [memory] = (await list()).memories
  expect(memory.text).toContain(CANARY)
  const first = await client.post('/api/erasures', { kind: 'memory', id: memory.id })
  expect(await list()).toMatchObject({ memories: [], count: 0 })
  await client.post(`/api/erasures/${first.json.id}/undo`)
  const asItWas = { ...memory, strength: expect.any(Number) }
  expect(await list()).toMatchObject({ memories: [asItWas], count: 1 })

  const second = await client.post('/api/erasures', { kind: 'memory', id: memory.id })
  skewMs = 61_000
  await until('the erasing', hasStatus(client, second.json.id, 'erased'))
  expect(await list()).toMatchObject({ memories: [], count: 0 })
  const events = await eventsOf(service)
  expect(events.filter(({ type }) => type === 'memory.deleted')).toHaveLength(1)
  // The message stays, because the erasure did not name it.
  expect(JSON.stringify(events)).toContain(CANARY)
})

test('erases everything within a period and nothing outside', async () => {
  let skewMs = 0
  const { service, client, say } = await startObeying({ nowMs: () => Date.now() + skewMs })
  await say('An early message about gardens.')
  skewMs = 3_600_000
  await say(`The middle one of ${CANARY}.`)
  mkdirSync(join(service.directory, 'adaptations'))
  writeFileSync(join(service.directory, 'adaptations', 'middle.md'), `Mind ${CANARY}.`)
  await client.post('/api/adaptations.reload')
  skewMs = 7_200_000
  await say('A late message about rivers.')
  const events = await eventsOf(service)
  const middle = Date.parse(events.find(({ payload }) => JSON.stringify(payload).includes(CANARY))?.at ?? '')
  const period = {
    kind: 'period',
    from: new Date(middle - 60_000).toISOString(),
    to: new Date(middle + 60_000).toISOString(),
  }
  const requested = await client.post('/api/erasures', period)
  expect(requested.json).toMatchObject({ kind: 'period', targetId: null, from: period.from, to: period.to })
  skewMs += 61_000
  await until('the erasing', hasStatus(client, requested.json.id, 'erased'))
  expect(filesHolding(service.directory, CANARY)).toEqual([])
  const rest = JSON.stringify(await eventsOf(service))
  expect(rest).toContain('gardens')
  expect(rest).toContain('rivers')
})

test('either undoes or erases, never both, when the two race', async () => {
  let skewMs = 0
  const { service, client, say } = await startObeying({ nowMs: () => Date.now() + skewMs })
  for (let round = 0; round < 3; round += 1) {
    await say(`Round ${round} of ${CANARY}${round}.`)
    const seq = (await eventsOf(service)).findLast(({ type }) => type === 'chat.message.received')?.seq
    const { id } = (await client.post('/api/erasures', { kind: 'message', id: String(seq) })).json
    skewMs += 61_000
    await new Promise((resolve) => setTimeout(resolve, 380 + 60 * round))
    const undone = await client.post(`/api/erasures/${id}/undo`)
    const ending = undone.status === 200 ? 'undone' : 'erased'
    await until('the end', hasStatus(client, id, ending))
    const isThere = (await eventsOf(service)).some(({ seq: each, payload }) => each === seq && payload.text)
    expect(isThere).toBe(ending === 'undone')
  }
})

test('refuses a target that is missing, malformed or backwards', async () => {
  const { client } = await startWholeService()
  const bad = [{}, { kind: 'planet', id: 'x' }, { kind: 'note' }, { kind: 'period' }]
  for (const body of bad) expect((await client.post('/api/erasures', body)).status).toBe(400)
  const backwards = { kind: 'period', from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }
  expect((await client.post('/api/erasures', backwards)).status).toBe(400)
  const never = { kind: 'period', from: '2001-01-01T00:00:00Z', to: '2001-01-02T00:00:00Z' }
  for (const target of [
    never,
    { kind: 'note', id: 'x' },
    { kind: 'message', id: '99999' },
    { kind: 'memory', id: 'x' },
  ]) {
    expect((await client.post('/api/erasures', target)).json.code).toBe('nothing_to_erase')
    expect((await client.get(`/api/erasures.plan?${new URLSearchParams(target)}`)).status).toBe(404)
  }
  expect((await client.get('/api/erasures/x')).status).toBe(404)
  expect((await client.post('/api/erasures/x/undo')).status).toBe(404)
})
