import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { closing } from '../../ledger/closing.ts'
import { openLedgerReadOnly } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { conversationsIn } from '../../src/imports/read/export-file.ts'
import { readExport } from '../../src/imports/read/read-export.ts'
import { factsOf } from '../backups/harness.ts'
import { filesHolding, testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'
import {
  BREAD,
  chatGptConversation,
  chatGptZip,
  claudeConversation,
  conversationsOf,
  FERN,
  jsonList,
  messagesOf,
  over,
  upload,
  writeZip,
} from './exports.ts'

test('imports an export of ChatGPT: the branch that was last read, without what was hidden', async () => {
  const service = await startWholeService()
  const done = await over(service, await upload(service, await chatGptZip()))
  expect(done).toMatchObject({
    state: 'completed',
    name: 'chatgpt.zip',
    conversations: 2,
    messages: 6,
    known: 0,
    skipped: 0,
  })
  expect(await conversationsOf(service)).toEqual([
    {
      id: 'chatgpt-bread',
      service: 'chatgpt',
      title: 'Sourdough',
      firstAt: '2025-01-05T08:00:00.000Z',
      lastAt: '2025-01-05T08:01:00.000Z',
      messages: 2,
    },
    expect.objectContaining({ id: 'chatgpt-fern', title: 'Ferns indoors', messages: 4 }),
  ])
  const { items } = await messagesOf(service, 'chatgpt-fern')
  expect(items.map(({ speaker, text }: Record<string, string>) => [speaker, text])).toEqual([
    ['owner', 'How often do I water a fern?'],
    ['assistant', 'Twice a week.'],
    ['owner', 'Mine stands in Lisbon.'],
    ['assistant', 'Then more often.'],
  ])
  expect(items[3].at).toBe('2024-03-01T10:03:00.000Z')
  // The uploaded file is gone.
  expect(filesHolding(join(service.directory, 'imports'), 'PK')).toEqual([])
})

test('imports the split form of ChatGPT, and every form of Claude', async () => {
  const service = await startWholeService()
  const split = await writeZip('split.zip', {
    'export/conversations-000.json': () => jsonList([chatGptConversation(FERN)]),
    'export/conversations-001.json': () => jsonList([chatGptConversation(BREAD)]),
    'export/shared_conversations.json': () => ['[{"id":"shared"}]'],
  })
  expect(await over(service, await upload(service, split))).toMatchObject({ conversations: 2, skipped: 0 })

  const list = join(testDirectory(), 'conversations.json')
  writeFileSync(list, JSON.stringify([claudeConversation({ ...FERN, id: 'one' })]))
  expect(await over(service, await upload(service, list))).toMatchObject({ conversations: 1, messages: 4 })
  const single = await writeZip('batch.zip', {
    'conversations/two.json': () => [JSON.stringify(claudeConversation({ ...BREAD, id: 'two' }))],
    'conversations/three.json': () => [JSON.stringify(claudeConversation({ ...BREAD, id: 'three' }))],
    'projects/x.json': () => ['{"uuid":"x","name":"Project"}'],
  })
  expect(await over(service, await upload(service, single))).toMatchObject({ conversations: 2, skipped: 0 })
  const { items } = await messagesOf(service, 'claude-one')
  expect(items.map(({ text }: { text: string }) => text)).toEqual(FERN.texts)
})

test('keeps what is attached in Claude: pasted text as a quotation, and a mark for what has no text', async () => {
  const service = await startWholeService()
  const talk = claudeConversation({ ...FERN, texts: ['Here it is.', 'Thanks.', '', 'I see a photo.'] })
  const attached = [
    { attachments: [{ file_name: '', extracted_content: 'The lease ends in May.\r\nIt is in Ghent.' }] },
    {},
    { attachments: [{ file_name: 'scan.pdf', extracted_content: '' }], files: [{ file_name: 'a.png' }] },
    { attachments: null, files: null },
  ]
  const messages = talk.chat_messages.map((message, index) => ({ ...message, ...attached[index] }))
  const path = join(testDirectory(), 'conversations.json')
  writeFileSync(path, JSON.stringify([{ ...talk, chat_messages: messages }]))
  expect(await over(service, await upload(service, path))).toMatchObject({ messages: 4, skipped: 0 })
  const { items } = await messagesOf(service, 'claude-fern')
  expect(items.map(({ speaker, text }: Record<string, string>) => [speaker, text])).toEqual([
    ['owner', 'Here it is.\n\n> The lease ends in May.\n> It is in Ghent.'],
    ['assistant', 'Thanks.'],
    ['owner', '[attachment]\n\n[attachment]'],
    ['assistant', 'I see a photo.'],
  ])
  expect(await conversationsOf(service, '?q=Ghent')).toMatchObject([{ id: 'claude-fern' }])
})

test('adds nothing twice, and only what is new of a longer export', async () => {
  const service = await startWholeService()
  await over(service, await upload(service, await chatGptZip()))
  const head = async () => (await service.client.get('/api/imported')).json
  const before = await head()
  expect(await over(service, await upload(service, await chatGptZip()))).toMatchObject({
    state: 'completed',
    conversations: 0,
    messages: 0,
    known: 6,
  })
  expect(await head()).toEqual(before)
  const longer = { ...FERN, texts: [...FERN.texts, 'And in winter?', 'Less.'] }
  const done = await over(service, await upload(service, await chatGptZip([longer, BREAD])))
  expect(done).toMatchObject({ conversations: 1, messages: 2, known: 6 })
  const { items } = await messagesOf(service, 'chatgpt-fern')
  expect(items.map(({ text }: { text: string }) => text)).toEqual(longer.texts)
})

test('reads a long conversation in pieces, and adds each message once', async () => {
  const texts = Array.from({ length: 3_000 }, (_, index) => `${index}`)
  const long = chatGptConversation({ id: 'long', title: 'Long', texts })
  const path = await writeZip('long.zip', { 'conversations.json': () => jsonList([long, long]) })
  const sizes: number[] = []
  for await (const { conversations } of readExport(path, Date.now(), new AbortController().signal))
    sizes.push(conversations.reduce((sum, { messages }) => sum + messages.length, 0))
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(6_000)
  expect(Math.max(...sizes)).toBeLessThan(1_001)

  const service = await startWholeService()
  const first = await over(service, await upload(service, path))
  expect(first).toMatchObject({ state: 'completed', conversations: 1, messages: 3_000, known: 0 })
  const again = await over(service, await upload(service, path))
  expect(again).toMatchObject({ state: 'completed', messages: 0, known: 6_000 })
  const { items } = await messagesOf(service, 'chatgpt-long')
  expect(items.slice(0, 3).map(({ text }: { text: string }) => text)).toEqual(['0', '1', '2'])
})

test('keeps imports out of the timeline, its search, learning and the chat socket', async () => {
  const service = await startWholeService()
  const before = (await service.client.get('/api/timeline?limit=1000')).json
  await over(service, await upload(service, await chatGptZip()))
  const after = (await service.client.get('/api/timeline?limit=1000')).json
  expect(after).toEqual(before)
  expect((await service.client.get('/api/timeline/search?q=fern')).json.hits).toEqual([])
  await service.client.post('/api/chat', { content: 'Where does my fern stand?' })
  const { events } = (await service.client.get('/api/timeline?limit=1000')).json
  expect(events.filter(({ type }: { type: string }) => type.startsWith('import'))).toEqual([])
  expect(events.filter(({ type }: { type: string }) => type === 'memory.stored')).toEqual([])
  expect(JSON.stringify(events)).not.toContain('Lisbon')
})

test('finds imported conversations by their words and lists them by date, a page at a time', async () => {
  const service = await startWholeService()
  const talks = Array.from({ length: 7 }, (_, index) => ({
    id: `talk${index}`,
    title: `Talk ${index}`,
    at: `2024-0${index + 1}-01T00:00:00.000Z`,
    texts: [
      `Tell me about topic ${index}.`,
      index % 2 === 0 ? 'It concerns glaciers.' : 'It concerns rivers.',
    ],
  }))
  await over(service, await upload(service, await chatGptZip(talks)))
  const ids = (found: { id: string }[]) => found.map(({ id }) => id)
  const first = (await service.client.get('/api/imported?limit=3')).json
  expect(ids(first.conversations)).toEqual(['chatgpt-talk6', 'chatgpt-talk5', 'chatgpt-talk4'])
  const rest = (await service.client.get(`/api/imported?limit=10&cursor=${first.nextCursor}`)).json
  expect([ids(rest.conversations).length, rest.nextCursor]).toEqual([4, null])
  const found = (await service.client.get('/api/imported?q=glacier&limit=2')).json
  expect(ids(found.conversations)).toEqual(['chatgpt-talk6', 'chatgpt-talk4'])
  expect(found.conversations[0]).toMatchObject({
    snippet: expect.stringContaining('It concerns glaciers.'),
    marked: expect.stringContaining('\u0002glaciers\u0003'),
  })
  const more = (await service.client.get(`/api/imported?q=glacier&limit=2&cursor=${found.nextCursor}`)).json
  expect(ids(more.conversations)).toEqual(['chatgpt-talk2', 'chatgpt-talk0'])
  expect((await service.client.get('/api/imported?cursor=nonsense')).status).toBe(400)
})

test('reads a long conversation a page at a time', async () => {
  const service = await startWholeService()
  const texts = Array.from({ length: 130 }, (_, index) => `Message ${index}. ${'word '.repeat(200)}`)
  await over(service, await upload(service, await chatGptZip([{ ...FERN, texts }])))
  const read: string[] = []
  let cursor = ''
  for (;;) {
    const page = (await service.client.get(`/api/imported/chatgpt-fern?limit=50${cursor}`)).json
    read.push(...page.items.map(({ text }: { text: string }) => text))
    if (page.nextCursor === null) break
    cursor = `&cursor=${page.nextCursor}`
  }
  expect(read).toEqual(texts.map((text) => text))
})

test('continues after a restart and repeats nothing; stops when it is cancelled, and keeps what it added', {
  tags: ['long'],
}, async () => {
  const service = await startWholeService()
  const talks = Array.from({ length: 3000 }, (_, index) => ({ ...FERN, id: `fern${index}` }))
  const path = await chatGptZip(talks)
  const id = await upload(service, path)
  const added = async (from: typeof service) => (await from.client.get('/api/imports')).json.conversations
  await expect.poll(() => added(service)).toBeGreaterThan(50)
  const backlogOf = async (from: typeof service) =>
    (await from.client.get('/api/session/health')).json.reactors.find(
      ({ name }: { name: string }) => name === 'imports',
    )
  expect(await backlogOf(service)).toMatchObject({ waiting: 1, since: expect.any(String), state: 'ok' })
  await service.stop()
  const again = await startWholeService({ directory: service.directory })
  const completed = { state: 'completed', conversations: 3000, messages: 12_000, known: 0 }
  expect(await over(again, id)).toMatchObject(completed)
  expect(await added(again)).toBe(3000)
  expect(await backlogOf(again)).toMatchObject({ waiting: 0 })

  const more = talks.map((talk) => ({ ...talk, id: `more-${talk.id}` }))
  const other = await upload(again, await chatGptZip(more))
  await expect.poll(() => added(again)).toBeGreaterThan(3050)
  // While it goes on, erasing would miss what it adds next.
  expect((await again.client.post('/api/erasures', { kind: 'import', id: other })).status).toBe(409)
  expect((await again.client.post(`/api/imports/${other}/cancel`)).status).toBe(204)
  const cancelled = await over(again, other)
  expect(cancelled.state).toBe('cancelled')
  expect(cancelled.conversations).toBeLessThan(3000)
  expect(await added(again)).toBe(3000 + cancelled.conversations)
  expect((await again.client.post(`/api/imports/${other}/cancel`)).status).toBe(404)
})

test('adds nothing to an import after it was cancelled', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const added = async () => (await service.client.get('/api/imports')).json.conversations
  for (let round = 0; round < 3; round += 1) {
    const talks = Array.from({ length: 1000 }, (_, index) => ({ ...FERN, id: `fern-${round}-${index}` }))
    const before = await added()
    const id = await upload(service, await chatGptZip(talks))
    await expect.poll(added, { interval: 5 }).toBeGreaterThan(before)
    expect((await service.client.post(`/api/imports/${id}/cancel`)).status).toBe(204)
  }
  await service.stop()
  using ledger = closing(openLedgerReadOnly(service.directory))
  const ended = new Set<string>()
  for (const event of createReader(ledger).readAfter(0, 1_000_000)) {
    if (event.type === 'import.cancelled') ended.add(event.facts.importId)
    if (event.type === 'import.conversation.added') expect(ended).not.toContain(event.facts.importId)
  }
  expect(ended.size).toBe(3)
})

test('continues all waiting imports after a restart', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const talks = Array.from({ length: 1500 }, (_, index) => ({ ...FERN, id: `fern${index}` }))
  const first = await upload(service, await chatGptZip(talks))
  const second = await upload(service, await chatGptZip([BREAD]))
  await service.stop()
  const again = await startWholeService({ directory: service.directory })
  expect(await over(again, first)).toMatchObject({ state: 'completed', conversations: 1500 })
  expect(await over(again, second)).toMatchObject({ state: 'completed', conversations: 1 })
})

test('refuses a zip that unpacks to more than the limit, or whose names lead elsewhere', async () => {
  const read = async (path: string, limit?: number) => {
    const found = []
    for await (const each of conversationsIn(path, Date.now(), limit)) found.push(each)
    return found
  }
  const path = await chatGptZip()
  expect(await read(path)).toHaveLength(2)
  await expect(read(path, 1000)).rejects.toMatchObject({ reason: 'too_large' })
  // The same length, so that nothing else of the file changes.
  const bytes = readFileSync(await writeZip('a.zip', { 'xx/conversations.json': () => ['[]'] }))
  const evil = Buffer.from(bytes.toString('latin1').replaceAll('xx/conv', '../conv'), 'latin1')
  const evilPath = join(testDirectory(), 'evil.zip')
  writeFileSync(evilPath, evil)
  await expect(read(evilPath)).rejects.toMatchObject({ reason: 'unreadable' })
})

test('refuses what is no export, and says why', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const reasonOf = async (path: string) => {
    const { state, reason } = await over(service, await upload(service, path))
    return [state, reason]
  }
  const file = (name: string, content: string) => {
    const path = join(testDirectory(), name)
    writeFileSync(path, content)
    return path
  }
  expect(await reasonOf(file('notes.txt', 'Just some text.'))).toEqual(['failed', 'unreadable'])
  expect(await reasonOf(file('cut.json', '[{"uuid":"a","chat_messages":['))).toEqual(['failed', 'unreadable'])
  // What Claude sends first: links to the files.
  expect(await reasonOf(file('manifest.json', '{"files":[{"url":"https://x"}]}'))).toEqual([
    'failed',
    'nothing_found',
  ])
  expect(await reasonOf(file('broken.zip', 'PK\u0003\u0004 and then nothing'))).toEqual([
    'failed',
    'unreadable',
  ])
  expect(await reasonOf(await writeZip('photos.zip', { 'a.png': () => ['x'] }))).toEqual([
    'failed',
    'nothing_found',
  ])
  expect(await reasonOf(file('deep.json', `[${'['.repeat(200_000)}${']'.repeat(200_000)}]`))).toEqual([
    'failed',
    'nothing_found',
  ])
  expect(await factsOf(service, 'import.failed')).toEqual([])
})

test('takes pieces in order only, a repeated one once, and up to the announced size', async () => {
  const service = await startWholeService()
  const { client, origin } = service
  const { id } = (await client.post('/api/imports', { name: 'a.json', bytes: 10 })).json.import
  const send = async (offset: number, text: string) => {
    const answer = await fetch(`${origin}/api/imports/${id}/file?offset=${offset}`, {
      method: 'PUT',
      headers: { cookie: client.cookie() ?? '', 'content-type': 'application/octet-stream', origin },
      body: text,
    })
    return [answer.status, (await answer.json()).code ?? null]
  }
  expect(await send(3, 'abc')).toEqual([409, 'wrong_offset'])
  expect(await send(0, '[1,2')).toEqual([200, null])
  // Sent again, because the answer was lost.
  expect(await send(0, '[1,2')).toEqual([200, null])
  expect(await send(2, '1,2,3')).toEqual([409, 'wrong_offset'])
  expect(await send(4, 'x'.repeat(20))).toEqual([409, 'wrong_offset'])
  expect((await client.get('/api/imports')).json.imports).toMatchObject([
    { id, state: 'uploading', receivedBytes: 4 },
  ])
  expect((await client.post(`/api/imports/${id}/cancel`)).status).toBe(204)
  expect(await send(4, ',3,4]')).toEqual([404, 'unknown_import'])
  expect((await client.post('/api/imports', { name: 'a.json', bytes: 10 ** 12 })).status).toBe(400)
})
