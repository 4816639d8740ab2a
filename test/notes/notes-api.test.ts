import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'

const problem = 'application/problem+json'

test('creates, finds, changes, deletes and restores a note', async () => {
  const { client } = await startWholeService()
  const created = await client.post('/api/notes', { title: 'Shopping', content: 'milk\nbread' })
  expect(created.status).toBe(201)
  const { id } = created.json
  expect(created.headers.location).toBe(`/api/notes/${id}`)
  expect(created.json).toMatchObject({
    title: 'Shopping',
    content: 'milk\nbread',
    excerpt: 'milk\nbread',
    source: 'owner',
    revision: 1,
  })
  expect((await client.get(`/api/notes/${id}`)).json).toEqual(created.json)

  const changed = await client.put(
    `/api/notes/${id}`,
    { content: 'milk, zwieback' },
    { headers: { 'if-match': '1' } },
  )
  expect(changed.status).toBe(200)
  expect(changed.json).toMatchObject({ title: 'Shopping', content: 'milk, zwieback', revision: 2 })
  const stale = await client.put(`/api/notes/${id}`, { content: 'lost' }, { headers: { 'if-match': '"1"' } })
  expect(stale.status).toBe(412)
  expect(stale.headers['content-type']).toContain(problem)
  expect(stale.json).toMatchObject({ code: 'stale_revision', revision: 2 })

  expect((await client.get('/api/notes?q=zwieback')).json.notes).toMatchObject([
    { id, title: 'Shopping', excerpt: 'milk, zwieback', revision: 2 },
  ])
  expect((await client.get('/api/notes?q=shopp')).json.notes).toHaveLength(1)
  // The search covers the current revision only.
  expect((await client.get('/api/notes?q=bread')).json.notes).toEqual([])

  const { revisions } = (await client.get(`/api/notes/${id}/revisions`)).json
  expect(revisions).toMatchObject([
    { revision: 2, source: 'owner' },
    { revision: 1, source: 'owner' },
  ])
  expect((await client.get(`/api/notes/${id}/revisions/1`)).json).toMatchObject({ content: 'milk\nbread' })
  expect((await client.get(`/api/notes/${id}/revisions/3`)).status).toBe(404)
  const restored = await client.post(`/api/notes/${id}/restore`, { revision: 1 })
  expect(restored.status).toBe(200)
  expect(restored.json).toMatchObject({ content: 'milk\nbread', revision: 3 })
  const restoreUnknown = async (note: string) => {
    const { status, json } = await client.post(`/api/notes/${note}/restore`, { revision: 9 })
    return [status, json.code]
  }
  expect(await restoreUnknown(id)).toEqual([404, 'unknown_revision'])
  expect(await restoreUnknown('none')).toEqual([404, 'unknown_note'])

  const deleted = await client.delete(`/api/notes/${id}`)
  expect(deleted.status).toBe(204)
  expect(deleted.text).toBe('')
  for (const gone of [
    await client.get(`/api/notes/${id}`),
    await client.put(`/api/notes/${id}`, { content: 'x' }),
    await client.delete(`/api/notes/${id}`),
    await client.get(`/api/notes/${id}/revisions`),
    await client.get(`/notes/${id}`),
  ]) {
    expect(gone.status).toBe(404)
    expect(gone.headers['content-type']).toContain(problem)
  }
  expect((await client.get('/api/notes')).json.notes).toEqual([])
  expect((await client.get('/api/notes?deleted=true')).json.notes).toMatchObject([{ id, title: 'Shopping' }])
  expect((await client.post(`/api/notes/${id}/restore`, { revision: 3 })).json.content).toBe('milk\nbread')
  expect((await client.get('/api/notes')).json.notes).toMatchObject([{ id, revision: 4 }])
})

test('finds a note by words of its title and content together, also after one of them changed', async () => {
  const { client } = await startWholeService()
  const titles = async (q: string) =>
    (await client.get(`/api/notes?q=${encodeURIComponent(q)}`)).json.notes.map(
      ({ title }: { title: string }) => title,
    )
  const { id } = (await client.post('/api/notes', { title: 'Alpha', content: 'bravo text' })).json
  await client.put(`/api/notes/${id}`, { title: 'Zulu' })
  for (const q of ['zulu bravo', 'bravo zul', '"bravo text" zulu'])
    expect(await titles(q), q).toEqual(['Zulu'])
  expect(await titles('alpha bravo')).toEqual([])
  await client.put(`/api/notes/${id}`, { content: 'charlie' })
  expect(await titles('charlie zu')).toEqual(['Zulu'])
  expect(await titles('bravo zulu')).toEqual([])
  // The channel of a note is none of its words.
  await client.post('/api/chat', { content: 'add vitamin d to my shopping list' })
  expect(await titles('vitamin')).toHaveLength(1)
  for (const q of ['chat', 'vitamin c']) expect(await titles(q), q).toEqual([])
})

test('takes the title from the first words if none is given', async () => {
  const { client } = await startWholeService()
  const titled = async (content: string) => (await client.post('/api/notes', { content })).json.title
  expect(await titled('# Packing list\n\n- socks')).toBe('Packing list')
  expect(await titled('The oak is 412 years old. ')).toBe('The oak is 412 years old')
  expect(await titled('Not yet...\nsocks')).toBe('Not yet...')
  expect(await titled(`\n\n${'long '.repeat(60)}`)).toHaveLength(80)
  expect(await titled('😀'.repeat(50))).toBe(`${'😀'.repeat(39)}…`)
  const emoji = (await client.post('/api/notes', { content: `a${'😀'.repeat(150)}` })).json
  expect(emoji.excerpt).toBe(`a${'😀'.repeat(99)}`)
  const { id } = (await client.post('/api/notes', { title: 'Old', content: 'Fresh words' })).json
  expect((await client.put(`/api/notes/${id}`, { title: '' })).json.title).toBe('Fresh words')
})

test('shows the title of a note once, and handles a heading of endless spaces in time', {
  tags: ['long'],
}, async () => {
  const { client } = await startWholeService()
  async function prose(note: { title?: string; content: string }): Promise<string> {
    const { id } = (await client.post('/api/notes', note)).json
    const { text } = await client.get(`/notes/${id}`, { headers: { accept: 'text/html' } })
    return /<div class="prose">([\s\S]*)<\/div>/.exec(text)?.[1] ?? 'no prose'
  }
  for (const heading of ['# Packing list', '\n##  Packing list  ', '# Packing list ##', '# Packing list\r'])
    expect(await prose({ content: `${heading}\nsocks` }), heading).toBe('<p>socks</p>\n')
  expect(await prose({ title: 'Packing list', content: '# Packing list ##\nsocks' })).toBe('<p>socks</p>\n')
  expect(await prose({ content: '# Packing list' })).toContain('Packing list')
  expect(await prose({ title: 'Packing', content: '# Packing list\nsocks' })).toContain('Packing list')
  // Quadratic time would exceed the test's timeout.
  for (const gap of [' '.repeat(400_000), ' #'.repeat(200_000)])
    await prose({ title: 'A', content: `# A${gap}b\nsocks` })
})

test('accepts a million characters in any JSON encoding, and refuses more or none', {
  tags: ['long'],
}, async () => {
  const { client } = await startWholeService()
  const refused = async (body: unknown) => (await client.post('/api/notes', body)).status
  expect(await refused({ content: '' })).toBe(400)
  expect(await refused({ title: 'x' })).toBe(400)
  expect(await refused({ content: 7 })).toBe(400)
  const { id } = (await client.post('/api/notes', { content: 'a' })).json
  expect((await client.put(`/api/notes/${id}`, {})).status).toBe(400)
  expect((await client.put(`/api/notes/${id}`, { content: '' })).status).toBe(400)
  expect(
    (await client.put(`/api/notes/${id}`, { content: 'x' }, { headers: { 'if-match': 'soon' } })).status,
  ).toBe(400)

  const million = 1_000_000
  for (const character of ['a', '漢', '😀']) {
    const content = character.repeat(million)
    const created = await client.post('/api/notes', { content })
    expect(created.status, character).toBe(201)
    expect(created.json.content === content).toBe(true)
    expect(await refused({ content: `${content}a` }), character).toBe(400)
  }
  // Escaped surrogate pairs: 12 MB of JSON.
  const escaped = `{"content":"${'\\ud83d\\ude00'.repeat(million)}"}`
  const json = { headers: { 'content-type': 'application/json' } }
  expect((await client.put(`/api/notes/${id}`, escaped, json)).status).toBe(200)
  expect((await client.post('/api/notes', `${escaped}${' '.repeat(1_000_000)}`, json)).status).toBe(413)
  // A larger body that is not a valid note is refused with 413.
  for (const send of [client.post, client.put]) {
    const path = send === client.post ? '/api/notes' : `/api/notes/${id}`
    for (const bytes of [1_048_577, 2_097_152]) {
      const large = await send(path, { content: 'a'.repeat(bytes - '{"content":""}'.length) })
      expect([bytes, large.status, large.json.code]).toEqual([bytes, 413, 'body_too_large'])
      expect(large.json.detail).toBe('A note may have at most 1,000,000 characters.')
    }
  }
  // Other routes keep the usual limit.
  expect(
    (await client.post(`/api/notes/${id}/restore`, `{"revision":1${' '.repeat(1_100_000)}}`, json)).status,
  ).toBe(413)
})

test('keeps fifty concurrent notes and fifty concurrent edits', async () => {
  const { client } = await startWholeService()
  const numbers = Array.from({ length: 50 }, (_, index) => index + 1)
  const created = await Promise.all(numbers.map((n) => client.post('/api/notes', { content: `note ${n}` })))
  expect(new Set(created.map(({ status }) => status))).toEqual(new Set([201]))
  expect(new Set(created.map(({ json }) => json.id)).size).toBe(50)
  const listed = (await client.get('/api/notes?limit=200')).json.notes
  expect(new Set(listed.map(({ excerpt }: { excerpt: string }) => excerpt)).size).toBe(50)

  const { id } = created[0]?.json ?? {}
  const edits = await Promise.all(
    numbers.map((n) => client.put(`/api/notes/${id}`, { content: `edit ${n}` })),
  )
  expect(new Set(edits.map(({ status }) => status))).toEqual(new Set([200]))
  expect(edits.map(({ json }) => json.revision).sort((a, b) => a - b)).toEqual(numbers.map((n) => n + 1))
  for (const { json } of edits) {
    expect((await client.get(`/api/notes/${id}/revisions/${json.revision}`)).json.content).toBe(json.content)
  }
  // With the same revision in If-Match, one edit wins and the others get 412.
  const raced = await Promise.all(
    numbers.map((n) =>
      client.put(`/api/notes/${id}`, { content: `race ${n}` }, { headers: { 'if-match': '51' } }),
    ),
  )
  expect(raced.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(raced.filter(({ status }) => status === 412)).toHaveLength(49)
})

test('neither skips nor repeats notes across pages when notes are added', async () => {
  const { client } = await startWholeService()
  for (let n = 1; n <= 5; n += 1) await client.post('/api/notes', { content: `note ${n}` })
  const first = (await client.get('/api/notes?limit=2')).json
  expect(first.notes.map(({ excerpt }: { excerpt: string }) => excerpt)).toEqual(['note 5', 'note 4'])
  await client.post('/api/notes', { content: 'note 6' })
  const second = (await client.get(`/api/notes?limit=2&cursor=${first.nextCursor}`)).json
  expect(second.notes.map(({ excerpt }: { excerpt: string }) => excerpt)).toEqual(['note 3', 'note 2'])
  const third = (await client.get(`/api/notes?limit=2&cursor=${second.nextCursor}`)).json
  expect(third).toMatchObject({ notes: [{ excerpt: 'note 1' }], nextCursor: null })
})

test('shows an erased note nowhere', async () => {
  const { client } = await startWholeService()
  const { id } = (await client.post('/api/notes', { content: 'ultramarine7391 secret' })).json
  const { events } = (await client.get('/api/timeline')).json
  const { seq } = events.find(({ type }: { type: string }) => type === 'note.created')
  await client.delete(`/api/timeline/events/${seq}`)
  expect((await client.get(`/api/notes/${id}`)).status).toBe(404)
  expect((await client.get('/api/notes')).json.notes).toEqual([])
  expect((await client.get('/api/notes?deleted=true')).json.notes).toEqual([])
  expect((await client.get('/api/notes?q=ultramarine7391')).json.notes).toEqual([])
  expect((await client.post(`/api/notes/${id}/restore`, { revision: 1 })).json.code).toBe('revision_erased')
})

test('says which items of a list it could not take off', async () => {
  const { client } = await startWholeService()
  const say = async (content: string) => (await client.post('/api/chat', { content })).json.reply.text
  await say('add milk, 1.5 l juice and bread to my shopping list')
  expect(await say('take milk, 1.5 l juice and Jam off my shopping list')).toMatch(
    /^Taken off your \[shopping list\]\(.+\): milk and 1\.5 l juice\. I don’t see Jam there\.$/,
  )
  expect((await client.get('/api/notes?q=shopping')).json.notes).toMatchObject([{ excerpt: '- bread' }])
})
