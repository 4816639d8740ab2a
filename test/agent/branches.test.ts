import { cpSync, rmSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { exportLines } from '../../ledger/export.ts'
import { openLedgerReadOnly, viewsFile } from '../../ledger/files.ts'
import { importLines } from '../../ledger/import.ts'
import { openLedger } from '../../ledger/ledger.ts'
import { settingsFile } from '../../src/settings/store.ts'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { turnRequests } from '../doubles/model/turn-requests.ts'
import { testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'

const OLD = 'heliotrope'
const NEW = 'vermilion'

async function start(directory = testDirectory()) {
  const model = await startModelDouble()
  onTestFinished(() => model.close())
  model.answerWith(({ body }) => {
    const last = JSON.stringify(Array.isArray(body.input) ? body.input.at(-1) : '')
    const word = [OLD, NEW].find((each) => last.includes(each))
    return { text: word === undefined ? 'Very well.' : `So ${word} it is.` }
  })
  const service = await startWholeService({
    directory,
    environment: {
      OPENAI_API_KEY: 'sk-test-key-of-the-double',
      OPENAI_BASE_URL: model.url,
      CHAT_MODEL: 'test-model',
    },
  })
  const { client } = service
  const post = (content: string, more: object = {}) => client.post('/api/chat', { content, ...more })
  return {
    model,
    service,
    client,
    post,
    say: async (content: string, more: object = {}) => {
      const answer = await post(content, more)
      expect(answer.status, answer.text).toBe(200)
      return answer.json as { turnId: string; reply: { text: string } }
    },
    lastInput: () => JSON.stringify(turnRequests(model).at(-1)?.body.input),
    lastRequest: () => turnRequests(model).at(-1)?.text ?? '',
    events: async () =>
      (await client.get('/api/timeline?limit=1000')).json.events as {
        type: string
        turnId: string
        seq: number
        payload: Record<string, unknown>
      }[],
  }
}

type House = Awaited<ReturnType<typeof start>>

/** How often the words stand in the requests of turns. */
const countOf = (house: House, words: string) =>
  turnRequests(house.model).filter(({ text }) => text.includes(words)).length

test('shows the model only the changed message, then and later', async () => {
  const house = await start()
  await house.say('Let us paint the shed.')
  house.model.reply(
    { toolCalls: [{ name: 'create_note', arguments: { title: 'Paint', content: `Buy ${OLD} paint` } }] },
    { text: `So ${OLD} it is, and noted.` },
  )
  const first = await house.say(`In ${OLD}, please. Note it.`)
  const second = await house.say(`In ${NEW}, please.`, { replaces: first.turnId })
  expect(second.reply.text).toBe(`So ${NEW} it is.`)
  expect(house.lastRequest()).toContain('paint the shed')
  expect(house.lastRequest()).not.toContain(OLD)
  expect(house.lastRequest()).not.toContain('function_call_output')
  await house.say('And the door?')
  expect(house.lastRequest()).toContain(`So ${NEW} it is.`)
  expect(house.lastRequest()).not.toContain(OLD)
  // What was done is not undone.
  expect((await house.client.get('/api/notes')).json.notes).toMatchObject([{ title: 'Paint' }])
})

test('answers the same message again, and shows the model it once', async () => {
  const house = await start()
  house.model.reply({ text: 'A first answer.' })
  const first = await house.say('What rhymes with orange?')
  house.model.reply({ text: 'A second answer.' })
  const second = await house.say('What rhymes with orange?', { replaces: first.turnId })
  expect(second.reply.text).toBe('A second answer.')
  expect(house.lastRequest()).not.toContain('A first answer.')
  await house.say('Thank you.')
  expect(house.lastRequest().split('What rhymes with orange?')).toHaveLength(2)
  expect(house.lastRequest()).toContain('A second answer.')
  const replacing = (await house.events()).flatMap(({ payload }) =>
    payload.replaces ? [payload.replaces] : [],
  )
  expect(replacing).toEqual([{ turnId: first.turnId, seq: expect.any(Number), sameWords: true }])
})

test('continues from nothing that a compaction took from the replaced message', async () => {
  const house = await start()
  await house.say('Let us paint the shed.')
  const first = await house.say(`In ${OLD}, please.`)
  await expect.poll(async () => (await house.client.post('/api/session/context/compact')).status).toBe(200)
  expect(house.model.requests('/responses/compact').at(-1)?.text).toContain(OLD)
  await house.say(`In ${NEW}, please.`, { replaces: first.turnId })
  expect(house.lastRequest()).toContain('paint the shed')
  expect(house.lastRequest()).not.toContain(OLD)
  expect(house.lastInput()).not.toContain('"type":"compaction"')
  await expect.poll(async () => (await house.client.post('/api/session/context/compact')).status).toBe(200)
  expect(house.model.requests('/responses/compact').at(-1)?.text).not.toContain(OLD)
  await house.say('And the door?')
  expect(house.lastInput()).toContain('"type":"compaction"')
  expect(house.lastRequest()).toContain(NEW)
  expect(house.lastRequest()).not.toContain(OLD)
})

test('survives a restart, a rebuild of the views, and export and import', async () => {
  const house = await start()
  const first = await house.say(`The shed in ${OLD}.`)
  await house.say(`The shed in ${NEW}.`, { replaces: first.turnId })
  await house.service.stop()
  rmSync(viewsFile(house.service.directory))
  const rebuilt = await start(house.service.directory)
  await rebuilt.say('And the door?')
  expect(rebuilt.lastRequest()).toContain(`So ${NEW} it is.`)
  expect(rebuilt.lastRequest()).not.toContain(OLD)
  await rebuilt.service.stop()

  const copy = testDirectory()
  const db = openLedgerReadOnly(rebuilt.service.directory)
  const text = [...exportLines(db)].join('')
  db.close()
  async function* lines() {
    yield* text.split('\n').slice(0, -1)
  }
  let ledger: ReturnType<typeof openLedger> | undefined
  await importLines(lines(), (ledgerId) => {
    ledger = openLedger(copy, () => ledgerId)
    return ledger
  })
  ledger?.close()
  // The owner's password and settings are no part of the ledger.
  cpSync(settingsFile(rebuilt.service.directory), settingsFile(copy))
  const imported = await start(copy)
  await imported.say('And the fence?')
  expect(imported.lastRequest()).toContain(`So ${NEW} it is.`)
  expect(imported.lastRequest()).not.toContain(OLD)
})

test('stops the answer to a message that is changed, and answers the new one', async () => {
  const house = await start()
  const never = Promise.withResolvers<void>()
  onTestFinished(() => never.resolve())
  house.model.reply({ text: ['So ', OLD], pause: { at: 1, until: never.promise } })
  const stopped = house.post(`The shed in ${OLD}.`)
  await expect.poll(() => countOf(house, OLD)).toBe(1)
  const [asked] = (await house.events()).filter(({ type }) => type === 'chat.message.received')
  const second = await house.say(`The shed in ${NEW}.`, { replaces: asked?.turnId })
  expect(second.reply.text).toBe(`So ${NEW} it is.`)
  expect((await stopped).status).toBe(200)
  expect((await house.events()).filter(({ turnId }) => turnId === asked?.turnId).at(-1)?.type).toBe(
    'turn.completed',
  )
  expect(house.lastRequest()).not.toContain(OLD)
})

test('does not answer a message that was changed while it waited', async () => {
  const house = await start()
  const first = Promise.withResolvers<void>()
  onTestFinished(() => first.resolve())
  house.model.reply({ text: ['Let me', ' think.'], pause: { at: 1, until: first.promise } })
  const running = house.post('What shall we do today?')
  await expect.poll(() => turnRequests(house.model).length).toBe(1)
  const waiting = house.post(`The shed in ${OLD}.`)
  const messages = async () => (await house.events()).filter(({ type }) => type === 'chat.message.received')
  await expect.poll(async () => (await messages()).length).toBe(2)
  const changed = house.say(`The shed in ${NEW}.`, { replaces: (await messages()).at(-1)?.turnId })
  expect((await waiting).json.reply.text).toBe('')
  first.resolve()
  expect((await running).json.reply.text).toBe('Let me think.')
  expect((await changed).reply.text).toBe(`So ${NEW} it is.`)
  expect(countOf(house, OLD)).toBe(0)
})

test('replaces only the last message, and says why not', async () => {
  const house = await start()
  const first = await house.say('One.')
  const second = await house.say('Two.')
  const refused = async (replaces: string) => {
    const { status, json } = await house.post('Three.', { replaces })
    return [status, json.code]
  }
  expect(await refused('no-such-turn')).toEqual([404, 'unknown_turn'])
  expect(await refused(first.turnId)).toEqual([409, 'not_last_message'])
  const [message] = (await house.events()).filter(
    ({ type, turnId }) => type === 'chat.message.received' && turnId === second.turnId,
  )
  expect((await house.client.delete(`/api/timeline/events/${message?.seq}`)).status).toBe(200)
  expect(await refused(second.turnId)).toEqual([409, 'message_erased'])
  const third = await house.say('Three.')
  await house.client.post(
    `/api/conversations/${(await house.client.get('/api/conversations')).json.conversations[0].id}/end`,
  )
  expect(await refused(third.turnId)).toEqual([409, 'not_last_message'])
})

test('replaces a message once, however often the request is repeated', async () => {
  const house = await start()
  const first = await house.say('One.')
  const again = { replaces: first.turnId, clientMessageId: 'm1' }
  const [a, b] = await Promise.all([house.say('Two.', again), house.say('Two.', again)])
  expect(a.turnId).toBe(b.turnId)
  expect((await house.say('Two.', again)).turnId).toBe(a.turnId)
  const both = await Promise.all([
    house.post('Three.', { replaces: a.turnId }),
    house.post('Four.', { replaces: a.turnId }),
  ])
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
})

test('leaves a replaced message out of what the model finds, and does not call it forgotten', async () => {
  const house = await start()
  const first = await house.say(`The shed in ${OLD}.`)
  await house.say(`The shed in ${NEW}.`, { replaces: first.turnId })
  const search = { query: 'shed', channel: null, from: null, to: null }
  house.model.reply({ toolCalls: [{ name: 'search_timeline', arguments: search }] }, { text: 'Found.' })
  await house.say('What did I say of it?')
  expect(house.lastRequest()).not.toContain(OLD)
  expect(house.lastRequest()).not.toContain('forgotten')
  const { hits } = (await house.client.get(`/api/timeline/search?q=${OLD}`)).json
  expect(hits.map(({ type }: { type: string }) => type)).toContain('chat.message.received')
})

test('erases a message wherever it was asked again, and each branch by itself', async () => {
  const house = await start()
  const first = await house.say(`The shed in ${OLD}.`)
  const again = await house.say(`The shed in ${OLD}.`, { replaces: first.turnId })
  const changed = await house.say(`The shed in ${NEW}.`, { replaces: again.turnId })
  const seqOf = async (turnId: string) =>
    (await house.events()).find((each) => each.turnId === turnId && each.type === 'chat.message.received')
      ?.seq
  await house.client.delete(`/api/timeline/events/${await seqOf(again.turnId)}`)
  const text = () => house.events().then((events) => JSON.stringify(events))
  expect(await text()).not.toContain(OLD)
  expect(await text()).toContain(NEW)
  await house.client.delete(`/api/timeline/events/${await seqOf(changed.turnId)}`)
  expect(await text()).not.toContain(`in ${NEW}`)
})
