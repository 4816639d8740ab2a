import { expect, onTestFinished, test } from 'vitest'
import { startModelDouble } from '../doubles/model/model-double.ts'
import type { Reply } from '../doubles/model/script.ts'
import { turnRequests } from '../doubles/model/turn-requests.ts'
import { ofType } from '../phone/phone-harness.ts'
import { OWNER } from '../phone/provider.ts'
import { startWithTexts, text } from '../sms/sms-harness.ts'
import { filesHolding, testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'

const JOB = 'I work in Cardiff'
const SISTER = 'My sister Anna lives in Cardiff'
const INTERVIEW = 'I had an interview for the Cardiff job'

type Choice = { id: string; kind: string; text: string }

/** A scripted model that has learned two of three messages, and a clock that the test moves. */
async function startWithCardiff(directory = testDirectory()) {
  const double = await startModelDouble()
  onTestFinished(() => double.close())
  double.answerMemoryWith(({ text }) => ({
    text: JSON.stringify({
      candidates: [JOB, SISTER].filter((each) => text.includes(each)).map(candidateOf),
    }),
  }))
  let skewMs = 0
  const service = await startWholeService({
    directory,
    nowMs: () => Date.now() + skewMs,
    environment: {
      OPENAI_API_KEY: 'sk-test-key-of-the-double',
      OPENAI_BASE_URL: double.url,
      CHAT_MODEL: 'test-model',
    },
  })
  const { client } = service
  const say = async (content: string, ...answers: readonly Reply[]): Promise<void> => {
    double.reply(...answers)
    const answer = await client.post('/api/chat', { content })
    expect(answer.status, answer.text).toBe(200)
  }
  const memories = async (): Promise<string[]> =>
    (await client.get('/api/memories')).json.memories.map(({ text }: { text: string }) => text)
  const proposals = async (): Promise<{ id: string; choices: Choice[] }[]> =>
    (await client.get('/api/proposals')).json.proposals
  const events = async (): Promise<{ seq: number; type: string; payload: Record<string, unknown> }[]> =>
    (await client.get('/api/timeline?limit=5000')).json.events
  const erasures = async (): Promise<{ id: string; status: string }[]> =>
    (await client.get('/api/erasures')).json.erasures
  const pass = (ms: number) => {
    skewMs += ms
  }
  for (const content of [JOB, SISTER, INTERVIEW]) await say(content, { text: 'Noted.' })
  await expect.poll(memories).toHaveLength(2)
  return { double, service, client, say, memories, proposals, events, erasures, pass }
}

function candidateOf(text: string) {
  const [subject, slot] = text === JOB ? ['owner', 'work place'] : ['Anna', 'home']
  return {
    ...{ kind: 'relation', subject, slot, value: 'Cardiff', text, quote: text, modality: 'asserted' },
    ...{ speaker: 'owner', secrecy: 'keep', ends: null, singleValued: true, eventTime: null },
    ...{ validUntil: null, relations: [] },
  }
}

const forget = (query: string) => ({ toolCalls: [{ name: 'forget', arguments: { query } }] })

/** Has the owner asked what to forget. Returns the open proposal. */
async function asked(house: Awaited<ReturnType<typeof startWithCardiff>>) {
  await house.say('Forget my Cardiff job', forget('Cardiff job'), { text: 'Please choose.' })
  const [proposal] = await house.proposals()
  if (!proposal) throw new Error('nothing was proposed')
  return proposal
}

const withText = ({ choices }: { choices: Choice[] }, ...texts: string[]) =>
  choices.filter(({ text }) => texts.includes(text)).map(({ id }) => id)

test('offers memories and messages, and lets no model choose among them', async () => {
  const house = await startWithCardiff()
  await house.say('Forget my Cardiff job', forget('Cardiff job'), forget(JOB), forget(INTERVIEW), {
    text: 'Please choose in the browser.',
  })
  const [proposal, ...others] = await house.proposals()
  expect(others).toEqual([])
  expect(proposal).toMatchObject({ tool: 'forget', verb: 'Forget', status: 'open', text: '' })
  expect(proposal?.choices.map(({ kind, text }) => `${kind}: ${text}`).toSorted()).toEqual([
    `memory: ${JOB}`,
    `memory: ${SISTER}`,
    `message: ${INTERVIEW}`,
  ])
  expect(turnRequests(house.double).at(-1)?.text).toContain('Tell the owner in plain words')
  expect(await house.memories()).toHaveLength(2)
  expect(await house.erasures()).toEqual([])
})

test('forgets exactly what the owner chose, at once and with one undo', async () => {
  const house = await startWithCardiff()
  const { client } = house
  const proposal = await asked(house)
  const path = `/api/proposals/${proposal.id}`
  const chosen = withText(proposal, JOB, INTERVIEW)
  for (const wrong of [undefined, { chosen: [] }, { chosen: ['memory:unknown'] }])
    expect((await client.post(`${path}/confirm`, wrong)).json).toMatchObject({ code: 'invalid_request' })
  const plan = (await client.get(`/api/erasures.plan?kind=words&chosen=${chosen.join()}`)).json
  expect(plan).toMatchObject({
    named: [{ kind: 'memory', items: [{ text: JOB }] }],
    stays: [{ kind: 'message', items: [{ text: JOB }, { text: INTERVIEW }] }],
  })
  const confirmed = await client.post(`${path}/confirm`, { chosen })
  expect(confirmed.json).toMatchObject({ status: 'confirmed', outcome: 'done' })
  expect(await house.memories()).toEqual([SISTER])
  const [erasure, ...others] = await house.erasures()
  expect(others).toEqual([])
  await house.say('Where do I work?', { text: 'I do not know.' })
  const request = turnRequests(house.double).at(-1)?.text
  for (const text of [JOB, INTERVIEW]) expect(request).not.toContain(text)
  expect(request).toContain(SISTER)

  await client.post(`/api/erasures/${erasure?.id}/undo`)
  expect(await house.memories()).toHaveLength(2)
  await house.say('And now?', { text: 'In Cardiff.' })
  for (const text of [JOB, INTERVIEW]) expect(turnRequests(house.double).at(-1)?.text).toContain(text)
})

test('keeps the chosen words out of the model, the memories and the proposal for good', async () => {
  const directory = testDirectory()
  const house = await startWithCardiff(directory)
  const { client } = house
  const proposal = await asked(house)
  await client.post(`/api/proposals/${proposal.id}/confirm`, { chosen: withText(proposal, INTERVIEW) })
  house.pass(61_000)
  await expect.poll(async () => (await house.erasures())[0]?.status).toBe('erased')
  const search = { query: 'interview', channel: null, from: null, to: null }
  await house.say(
    'What about an interview?',
    { toolCalls: [{ name: 'search_timeline', arguments: search }] },
    { text: 'Nothing.' },
  )
  expect(turnRequests(house.double).at(-1)?.text).not.toContain(INTERVIEW)
  const returned = (await house.events()).findLast(({ type }) => type === 'tool.returned')
  expect(returned?.payload).toMatchObject({ tool: 'search_timeline', outcome: 'ok' })
  expect(await house.memories()).toHaveLength(2)
  const said = (await house.events()).filter(({ payload }) => payload.text === INTERVIEW)
  expect(said.map(({ type }) => type)).toEqual(['chat.message.received'])

  const [{ id } = { id: '' }] = await house.erasures()
  const messages = await client.post('/api/erasures', { kind: 'messages', id })
  expect(messages.status, messages.text).toBe(201)
  house.pass(61_000)
  await expect.poll(async () => (await house.erasures())[0]?.status).toBe('erased')
  await house.service.stop()
  expect(filesHolding(directory, 'interview for the Cardiff')).toEqual([])
})

test('offers no earlier request to forget', async () => {
  const house = await startWithCardiff()
  await house.say('Forget Cardiff', forget('Cardiff'), { text: 'Please choose.' })
  const again = await asked(house)
  expect(again.choices.map(({ text }) => text).toSorted()).toEqual([INTERVIEW, JOB, SISTER].toSorted())
})

test('asks for a confirmation in the browser if the owner asks by text, and copies no words', async () => {
  const directory = testDirectory()
  const phone = await startWithTexts({ directory })
  const { client } = phone.service
  phone.text.reply({ text: 'Noted.' })
  await client.post('/api/chat', { content: 'The spare key lies under the flowerpot' })
  phone.text.reply(forget('spare key'), { text: 'Please confirm it in the browser.' })
  await text(phone, 'SM1', OWNER, 'Forget the spare key')
  const all = await phone.eventsUntil('the answer', (events) => ofType(events, 'sms.sent').length === 1)
  expect(JSON.stringify(ofType(all, 'proposal.made'))).not.toContain('flowerpot')
  const [proposal, ...others] = (await client.get('/api/proposals')).json.proposals
  expect(others).toEqual([])
  expect(proposal).toMatchObject({
    target: 'Stop using this',
    text: 'The spare key lies under the flowerpot',
    choices: [{ kind: 'message' }],
  })
  expect((await client.get('/api/erasures')).json.erasures).toEqual([])
  expect((await client.post(`/api/proposals/${proposal.id}/confirm`)).json).toMatchObject({ outcome: 'done' })
  const [request] = ofType(await phone.events(), 'erasure.requested')
  const [asking] = ofType(all, 'sms.received')
  expect(request?.payload.barredSeqs).toContain(asking?.seq)
})

test('takes no question for the fact that it asks about', async () => {
  const house = await startWithCardiff()
  await house.say('What is my boiler code?', { text: 'I do not know.' })
  await house.say('Forget my boiler code', forget('boiler code'), { text: 'Which one?' })
  const [proposal] = await house.proposals()
  expect(proposal?.choices.map(({ text }) => text)).toEqual(['What is my boiler code?'])
})
