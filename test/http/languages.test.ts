import { expect, test } from 'vitest'
import { MAX_NOTE_CHARS } from '../../src/notes/content.ts'
import { startWholeService } from '../support/service.ts'

const german = { headers: { 'accept-language': 'de-DE,de;q=0.9' } }

test('words problems in the language of the request, and in English for machines', async () => {
  const { client } = await startWholeService()
  const detailOf = async (headers?: Record<string, string>) => {
    const { json } = await client.get('/api/notes/none', headers ? { headers } : {})
    return [json.code, json.detail]
  }
  expect(await detailOf()).toEqual(['unknown_note', 'There is no such note.'])
  expect(await detailOf({ 'accept-language': '*' })).toEqual(['unknown_note', 'There is no such note.'])
  expect(await detailOf(german.headers)).toEqual(['unknown_note', 'Das gibt es nicht: Notiz.'])
})

test('words invalid fields in the language of the request, in plain words for every kind of fault', async () => {
  const { client } = await startWholeService()
  const setting = await client.put('/api/config', { entries: { TASK_LIMIT: 'many' } }, german)
  expect(setting.json).toMatchObject({
    code: 'invalid_setting',
    errors: [{ path: 'entries.TASK_LIMIT', message: 'muss eine ganze Zahl von 1 bis 20 sein' }],
  })
  const note = await client.post('/api/notes', { content: 5 }, german)
  expect(note.json.errors).toEqual([{ path: 'content', message: 'muss vom Typ string sein' }])
  const recall = await client.put('/memory-config', { relevanceThreshold: 2, contextTurns: 1.5 }, german)
  expect(recall.json.errors).toEqual([
    { path: 'contextTurns', message: 'muss eine ganze Zahl sein' },
    { path: 'relevanceThreshold', message: 'darf höchstens 1 sein' },
  ])
  const plain = await client.put('/memory-config', { strengthHalfLifeDays: 0, arbitrator: { model: '' } })
  expect(plain.json.errors).toEqual([
    { path: 'strengthHalfLifeDays', message: 'must be at least 0.1' },
    { path: 'arbitrator.model', message: 'must not be empty' },
  ])
  const long = await client.post(
    '/api/notes',
    { title: 'Long', content: 'a'.repeat(MAX_NOTE_CHARS + 1) },
    german,
  )
  expect(long.json.errors).toEqual([
    { path: 'content', message: `darf höchstens ${MAX_NOTE_CHARS} Zeichen haben` },
  ])
})

test('describes settings in the language of the request', async () => {
  const { client } = await startWholeService()
  const titleOf = async (options: object) =>
    (await client.get('/api/config', options)).json.entries.find(
      ({ key }: { key: string }) => key === 'TIMEZONE',
    ).title
  expect(await titleOf({})).toBe('Time zone')
  expect(await titleOf(german)).toBe('Zeitzone')
})

test('says in calls what the setting says, or else the language of the last page', async () => {
  const { client } = await startWholeService({ environment: { DEV_ROUTES: '1' } })
  const said = async () => (await client.post('/voice-markup', 'From=%2B14155550177')).text
  expect(await said()).toContain('<Say>This assistant cannot take calls yet')
  await client.get('/', { headers: { accept: 'text/html', 'accept-language': 'de' } })
  expect(await said()).toContain('<Say language="de-DE">Dieser Assistent kann noch keine Anrufe annehmen')
  await client.put('/api/config', { entries: { LANGUAGE: 'en' } })
  expect(await said()).toContain('<Say>This assistant cannot take calls yet')
})

test('serves pages in the language of the browser, or in the one that the owner chose', async () => {
  const { client } = await startWholeService()
  const pageOf = async (path: string, accepted: string) => {
    const { headers, text } = await client.get(path, {
      headers: { accept: 'text/html', 'accept-language': accepted },
    })
    return [headers['content-language'], /<html lang="([^"]+)"/.exec(text)?.[1], headers.vary]
  }
  expect(await pageOf('/', 'de')).toEqual(['de', 'de', 'accept-encoding, accept-language'])
  expect(await pageOf('/', 'fr')).toEqual(['en', 'en', 'accept-encoding, accept-language'])
  const { json: note } = await client.post('/api/notes', { title: 'Garden', content: 'Roses' })
  expect(await pageOf(`/notes/${note.id}`, 'de')).toEqual(['de', 'de', 'accept-language'])
  await client.put('/api/config', { entries: { LANGUAGE: 'en' } })
  expect(await pageOf('/', 'de')).toEqual(['en', 'en', 'accept-encoding, accept-language'])
  expect(await pageOf(`/notes/${note.id}`, 'de')).toEqual(['en', 'en', 'accept-language'])
})
