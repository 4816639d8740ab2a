import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readAdaptationFiles } from '../../src/adaptations/files.ts'
import { readRegularFile } from '../../src/lib/markdown-files.ts'
import { startWithModel } from '../browser/model.ts'
import type { ModelDouble } from '../doubles/model/model-double.ts'
import { script, speech } from '../phone/call/call-harness.ts'
import { ofType, startWithPhone } from '../phone/phone-harness.ts'
import { ACCOUNT, GUEST, NUMBER, OWNER } from '../phone/provider.ts'
import { testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'

const file = (directory: string, name: string, text: string | Uint8Array) => {
  mkdirSync(join(directory, 'adaptations'), { recursive: true })
  writeFileSync(join(directory, 'adaptations', name), text)
}

/** The model requests of turns, without those of memory. */
const turnsOf = (model: Pick<ModelDouble, 'requests'>) =>
  model.requests('/responses').filter(({ body }) => !String(body.instructions).startsWith('You find what'))

test('creates, changes, lists and deletes an instruction', async () => {
  const { client } = await startWholeService()
  expect((await client.get('/api/adaptations')).json).toEqual({ adaptations: [] })
  expect((await client.get('/api/adaptations/tone')).status).toBe(404)
  const made = await client.post('/api/adaptations/tone', { title: 'Tone', content: 'Be terse.' })
  expect(made.status).toBe(201)
  expect(made.json).toMatchObject({
    id: 'tone',
    title: 'Tone',
    content: 'Be terse.',
    enabled: true,
    channels: ['chat', 'voice', 'sms'],
    source: 'owner',
  })
  const changed = await client.post('/api/adaptations/tone', {
    enabled: false,
    channels: ['sms', 'chat', 'sms'],
  })
  expect(changed.status).toBe(200)
  expect(changed.json).toMatchObject({
    title: 'Tone',
    content: 'Be terse.',
    enabled: false,
    channels: ['chat', 'sms'],
  })
  expect((await client.get('/api/adaptations/tone')).json).toEqual(changed.json)
  expect((await client.get('/api/adaptations')).json.adaptations).toEqual([changed.json])
  const bad = [
    {},
    { content: '' },
    { content: 'x'.repeat(20_001) },
    { content: 'x', channels: ['fax'] },
    { content: 'x', channels: [] },
  ]
  for (const body of bad) expect((await client.post('/api/adaptations/new', body)).status).toBe(400)
  expect((await client.post('/api/adaptations/a%20b', { content: 'x' })).status).toBe(400)
  expect((await client.delete('/api/adaptations/tone')).status).toBe(204)
  expect((await client.delete('/api/adaptations/tone')).status).toBe(404)
  expect((await client.get('/api/adaptations')).json.adaptations).toEqual([])
})

test('limits the total size and keeps every concurrent change', async () => {
  const { client } = await startWholeService()
  const content = 'x'.repeat(20_000)
  for (let n = 1; n <= 5; n += 1)
    expect((await client.post(`/api/adaptations/a${n}`, { content })).status).toBe(201)
  expect((await client.post('/api/adaptations/a6', { content })).json.code).toBe('too_long')
  await Promise.all([
    client.post('/api/adaptations/a1', { title: 'Renamed' }),
    client.post('/api/adaptations/a1', { enabled: false }),
    client.post('/api/adaptations/a1', { channels: ['voice'] }),
    client.post('/api/adaptations/a1', { content: 'short' }),
  ])
  expect((await client.get('/api/adaptations/a1')).json).toMatchObject({
    title: 'Renamed',
    enabled: false,
    channels: ['voice'],
    content: 'short',
  })
})

test('sends the previewed instructions with the next turn and records their ids', async () => {
  const { service, model } = await startWithModel()
  const { client } = service
  model.answerWith(() => ({ text: 'Understood.' }))
  const nextTurn = async () => {
    const { turnId } = (await client.post('/api/chat', { content: 'Hello' })).json
    const body = turnsOf(model).at(-1)?.body
    return {
      instructions: body?.instructions,
      adaptations: (await client.get(`/api/turns/${turnId}`)).json.adaptations,
    }
  }
  const preview = async (channel: string) =>
    (await client.get(`/api/adaptations.preview?channel=${channel}`)).json.instructions

  const before = await nextTurn()
  expect(before).toEqual({ instructions: await preview('chat'), adaptations: [] })
  await client.post('/api/adaptations/terse', {
    title: 'Tone',
    content: 'Answer in one sentence. cerulean8812',
  })
  await client.post('/api/adaptations/phone', { content: 'Spell out numbers.', channels: ['voice'] })
  await client.post('/api/adaptations/off', { content: 'Never.', enabled: false })
  const after = await nextTurn()
  expect(after).toEqual({ instructions: await preview('chat'), adaptations: ['terse'] })
  expect(after.instructions).toContain('## Tone\n\nAnswer in one sentence. cerulean8812')
  expect(after.instructions).not.toMatch(/Spell out|Never\./)
  expect(await preview('voice')).toMatch(/cerulean8812[\s\S]*Spell out numbers\./)
  expect(await preview('sms')).not.toContain('Spell out')
  expect((await client.get('/api/adaptations.preview')).json.instructions).toBe(await preview('chat'))
  expect((await client.get('/api/adaptations.preview?channel=fax')).status).toBe(400)
  await client.post('/api/adaptations/terse', { enabled: false })
  expect(await nextTurn()).toEqual(before)
})

test('reads files at start-up and on reload, and reports why a file was skipped', async () => {
  const directory = testDirectory()
  const elsewhere = testDirectory()
  mkdirSync(elsewhere, { recursive: true })
  writeFileSync(join(elsewhere, 'secret.md'), 'The secret of another place.')
  file(directory, 'tone.md', '---\ntitle: "Tone of voice"\nchannels: [chat, sms]\n---\n\nBe terse.\n')
  file(directory, 'plain.md', 'No frontmatter at all.')
  const { client } = await startWholeService({ directory })
  const byId = async () =>
    Object.fromEntries(
      (await client.get('/api/adaptations')).json.adaptations.map((each: { id: string }) => [each.id, each]),
    )
  expect(await byId()).toMatchObject({
    tone: {
      title: 'Tone of voice',
      content: 'Be terse.',
      channels: ['chat', 'sms'],
      enabled: true,
      source: 'file',
    },
    plain: {
      title: 'plain',
      content: 'No frontmatter at all.',
      channels: ['chat', 'voice', 'sms'],
      source: 'file',
    },
  })

  await client.post('/api/adaptations/mine', { content: 'Written here.' })
  file(directory, 'mine.md', 'Written there.')
  file(directory, 'empty.md', '---\ntitle: x\n---\n')
  file(directory, 'typo.md', '---\nenable: false\n---\nx')
  file(directory, 'open.md', '---\ntitle: x\nno end')
  file(directory, 'large.md', 'x'.repeat(200_000))
  file(directory, 'long.md', 'x'.repeat(20_001))
  file(directory, 'binary.md', new Uint8Array([0xff, 0xfe, 0x00]))
  file(directory, 'bad name.md', 'x')
  file(directory, 'readme.txt', 'not markdown')
  symlinkSync(join(elsewhere, 'secret.md'), join(directory, 'adaptations', 'link.md'))
  symlinkSync(join(directory, 'adaptations', 'tone.md'), join(directory, 'adaptations', 'within.md'))
  symlinkSync(join(directory, 'nothing'), join(directory, 'adaptations', 'dangling.md'))
  mkdirSync(join(directory, 'adaptations', 'folder.md'))
  const reloaded = await client.post('/api/adaptations.reload')
  expect(reloaded.status).toBe(200)
  const reasons = Object.fromEntries(
    reloaded.json.skipped.map(({ file, reason }: { file: string; reason: string }) => [file, reason]),
  )
  expect(reloaded.json.loaded).toBe(2)
  expect(reasons).toEqual({
    'bad name.md': expect.stringContaining('name'),
    'binary.md': 'it is not UTF-8 text',
    'dangling.md': 'it is not a regular file',
    'empty.md': expect.stringContaining('no text'),
    'folder.md': 'it is not a regular file',
    'large.md': 'it is larger than 128 KiB',
    'link.md': 'it is not a regular file',
    'long.md': expect.stringContaining('20,000'),
    'mine.md': 'an instruction from the browser has this name',
    'within.md': 'it is not a regular file',
    'open.md': expect.stringContaining('---'),
    'typo.md': 'unknown key "enable": use title, channels or enabled',
  })
  expect(JSON.stringify(await byId())).not.toContain('another place')
  expect((await byId()).mine.content).toBe('Written here.')
})

test('reads at most 200 files, and no more of a file than asked', async () => {
  const directory = testDirectory()
  for (let number = 1; number <= 201; number += 1)
    file(directory, `${String(number).padStart(3, '0')}.md`, number === 200 ? 'x'.repeat(200_000) : 'x')
  const { found, skipped } = await readAdaptationFiles(join(directory, 'adaptations'))
  expect(found).toHaveLength(199)
  expect(skipped).toEqual([
    { file: '200.md', reason: 'it is larger than 128 KiB' },
    { file: '201.md', reason: 'there are more than 200 files' },
  ])
  expect(await readRegularFile(join(directory, 'adaptations', '200.md'), 10)).toHaveLength(11)
})

test('lets the most recent change win, whether from a file or the owner', async () => {
  const directory = testDirectory()
  file(directory, 'tone.md', 'First.')
  const first = await startWholeService({ directory })
  const content = async (client: typeof first.client) => (await client.get('/api/adaptations/tone')).json
  await first.client.post('/api/adaptations/tone', { enabled: false })
  expect(await content(first.client)).toMatchObject({ source: 'file', enabled: false })
  await first.client.post('/api/adaptations.reload')
  expect(await content(first.client)).toMatchObject({ content: 'First.', enabled: false })
  await first.stop()

  const facts = await startWholeService({ directory })
  expect(await content(facts.client)).toMatchObject({ content: 'First.', enabled: false })
  file(directory, 'tone.md', 'Second.')
  expect((await facts.client.post('/api/adaptations.reload')).json).toEqual({ loaded: 1, skipped: [] })
  expect(await content(facts.client)).toMatchObject({ content: 'Second.', enabled: true, source: 'file' })
  await facts.client.post('/api/adaptations/tone', { content: 'Mine.' })
  await facts.client.post('/api/adaptations.reload')
  expect(await content(facts.client)).toMatchObject({ content: 'Mine.', source: 'owner' })

  file(directory, 'other.md', 'Another.')
  expect((await facts.client.post('/api/adaptations.reload')).json.loaded).toBe(2)
  rmSync(join(directory, 'adaptations', 'other.md'))
  expect((await facts.client.post('/api/adaptations.reload')).json.loaded).toBe(1)
  expect((await facts.client.get('/api/adaptations/other')).status).toBe(404)
})

test('skips a directory that is a link to elsewhere', async () => {
  const directory = testDirectory()
  const elsewhere = testDirectory()
  mkdirSync(elsewhere, { recursive: true })
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(elsewhere, 'a.md'), 'Elsewhere.')
  symlinkSync(elsewhere, join(directory, 'adaptations'))
  const { client } = await startWholeService({ directory })
  expect((await client.post('/api/adaptations.reload')).json).toEqual({
    loaded: 0,
    skipped: [{ file: 'adaptations', reason: 'it is not a directory' }],
  })
})

test('applies instructions to calls and texts of the owner, not of a guest', async () => {
  const phone = await startWithPhone({
    script: script({ reply: () => ({ audio: speech('caller-thanks'), transcript: 'Hello.' }) }),
  })
  const { client } = phone.service
  await client.post('/api/adaptations/calls', {
    content: 'Spell out numbers. vermilion1',
    channels: ['voice'],
  })
  await client.post('/api/adaptations/texts', { content: 'Sign with D. vermilion2', channels: ['sms'] })
  const text = { AccountSid: ACCOUNT, To: NUMBER, NumMedia: '0' }
  await phone.provider.post('/sms', { ...text, MessageSid: 'SM1', From: OWNER, Body: 'Hello' })
  await phone.eventsUntil('the answer', (all) => ofType(all, 'turn.completed').length === 1)
  const asked = turnsOf(phone.text)
  expect(asked.at(-1)?.body.instructions).toBe(
    (await client.get('/api/adaptations.preview?channel=sms')).json.instructions,
  )
  expect(asked.at(-1)?.body.instructions).toMatch(/vermilion2/)
  await phone.provider.post('/sms', { ...text, MessageSid: 'SM2', From: GUEST, Body: 'Hello' })
  await phone.eventsUntil('the answer', (all) => ofType(all, 'turn.completed').length === 2)
  expect(turnsOf(phone.text)).toHaveLength(2)
  expect(JSON.stringify(turnsOf(phone.text).at(-1)?.body)).not.toContain('vermilion')

  const { caller } = await phone.dial('CA1', OWNER)
  await phone.eventsUntil('the greeting', (all) => ofType(all, 'call.reply.spoken').length === 1)
  caller.hangUp()
  const all = await phone.eventsUntil('the turn', (events) => ofType(events, 'turn.completed').length === 3)
  expect(JSON.stringify(phone.realtime.received)).toContain('vermilion1')
  expect(JSON.stringify(phone.realtime.received)).not.toContain('vermilion2')
  const { turnId } = ofType(all, 'turn.completed').at(-1)
  expect((await client.get(`/api/turns/${turnId}`)).json.adaptations).toEqual(['calls'])
})
