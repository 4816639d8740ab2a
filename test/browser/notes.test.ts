import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { hostileTexts } from './hostile-texts.ts'
import { checkLooks } from './looks.ts'
import { startWithModel } from './model.ts'
import { choose as chooseOf, composer, inFocus, phone, visit, words } from './page.ts'

const browser = useBrowser()
test('writes a note by keyboard, finds it and shows it', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/notes' })
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
  expect(await findings(page)).toEqual([])
  await page.getByRole('link', { name: 'New note' }).focus()
  await page.keyboard.press('Enter')
  await inFocus(page.getByRole('textbox', { name: 'Title' })).waitFor()
  await page.keyboard.type('Balcony')
  await page.keyboard.press('Tab')
  await inFocus(page.getByRole('textbox', { name: 'Text, in markdown' })).waitFor()
  await page.keyboard.type('Water the **tomatoes**')
  await page.keyboard.press('Control+s')
  // Exact, because "Not saved yet" contains the word too.
  const saved = page.getByRole('status').filter({ hasText: /^\s*Saved\s*$/ })
  await saved.waitFor({ state: 'attached' })
  expect(new URL(page.url()).searchParams.get('id')).not.toBeNull()
  await page.keyboard.type(' and the basil')
  await page.getByRole('button', { name: 'Preview' }).click()
  await expect.poll(() => page.locator('.preview strong').textContent()).toBe('tomatoes')
  expect(await findings(page)).toEqual([])
  await page.getByRole('button', { name: 'Save' }).click()
  await expect.poll(async () => (await service.client.get('/api/notes')).json.notes[0].revision).toBe(2)
  await saved.waitFor({ state: 'attached' })

  await page.getByRole('link', { name: 'All notes' }).click()
  const items = page.getByRole('list', { name: 'Notes' }).getByRole('listitem')
  await items.filter({ hasText: 'and the basil' }).waitFor()
  await page.getByRole('searchbox').fill('zucchini')
  await page.getByRole('heading', { name: 'No matching notes' }).waitFor()
  await page.getByRole('searchbox').fill('tomat')
  await expect.poll(() => items.count()).toBe(1)
  await page.getByRole('link', { name: 'Balcony' }).click()
  await page.locator('article strong').waitFor()
  expect(await page.locator('script').count()).toBe(0)
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
})

test('asks before the tab closes with an unsaved note, also from another page', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/notes/edit' })
  await page.getByRole('textbox', { name: 'Text, in markdown' }).fill('Water the tomatoes')
  await page.getByRole('link', { name: 'All notes' }).click()
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
  const asked: string[] = []
  page.on('dialog', (dialog) => {
    asked.push(dialog.type())
    void dialog.accept()
  })
  const closed = page.waitForEvent('close')
  await page.close({ runBeforeUnload: true })
  await closed
  expect(asked).toEqual(['beforeunload'])
})

test('restores a revision, deletes a note, undoes that, and erases it', async () => {
  let skewMs = 0
  const service = await startWholeService({ nowMs: () => Date.now() + skewMs })
  const created = await service.client.post('/api/notes', {
    title: 'Balcony',
    content: 'Water the tomatoes',
  })
  await service.client.put(`/api/notes/${created.json.id}`, { content: 'Water the basil' })
  const page = await visit(browser(), service, {
    path: `/notes/${created.json.id}`,
    slowTimers: true,
  })
  const items = page.getByRole('list', { name: 'Notes' }).getByRole('listitem')
  await page.getByRole('link', { name: 'History' }).click()
  await page.getByRole('button', { name: /revision 1/ }).click()
  await page.getByRole('button', { name: 'Restore this revision' }).click()
  await page.getByText('Revision 1 restored.').waitFor()
  expect((await service.client.get('/api/notes')).json.notes[0]).toMatchObject({ revision: 3 })
  await page.goto('/notes')
  const choose = async (item: string) => {
    await page.getByRole('button', { name: 'More for Balcony' }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  await choose('Delete')
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await items.filter({ hasText: 'tomatoes' }).waitFor()
  await choose('Delete')
  await page.getByRole('button', { name: 'Deleted', exact: true }).click()
  await page.getByRole('list', { name: 'Deleted notes' }).waitFor()
  await choose('Erase for good…')
  await page.getByText('versions of notes').waitFor()
  await page.getByRole('button', { name: 'Erase', exact: true }).click()
  await page.getByRole('heading', { name: 'No deleted notes' }).waitFor()
  skewMs = 61_000
  await expect
    .poll(async () => (await service.client.get('/api/erasures')).json.erasures[0].status)
    .toBe('erased')
  await page.goto('/')
  await page.getByText(/Erased for good: .*versions? of notes?/).waitFor()
  await expect.poll(() => page.getByText('tomatoes').count()).toBe(0)
})

test('lists what a period erases, hides it, and restores it on undo', { tags: ['long'] }, async () => {
  const { service, model } = await startWithModel()
  model.answerWith(() => ({ text: 'Noted, the vermilion one.' }))
  await service.client.post('/api/chat', { content: 'The door is vermilion now' })
  const page = await visit(browser(), service, { slowTimers: true, expected: /500/ })
  await words(page, 'Delegate', 'vermilion').waitFor()
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Erase a period…' }).click()
  await page.getByText('1 message', { exact: true }).waitFor()
  await page.getByRole('listitem').filter({ hasText: 'The door is vermilion now' }).waitFor()
  await page.getByRole('textbox', { name: 'To' }).fill('2020-01-01T00:00')
  await page.getByText('The end must be after the start.').waitFor()
  await page.getByLabel('From').fill('')
  await page.getByText('Choose a date and time.').waitFor()
  await page.getByRole('button', { name: 'Last hour' }).click()
  await page.getByText('1 reply', { exact: true }).waitFor()
  await page.route('**/api/erasures', (route) => route.fulfill({ status: 500, body: '{}' }), { times: 1 })
  await page.getByRole('button', { name: 'Erase', exact: true }).click()
  await page.getByText(/status 500/).waitFor()
  await page.getByRole('button', { name: 'Last 24 hours' }).click()
  await page.getByText('1 reply', { exact: true }).waitFor()
  await page.getByText(/status 500/).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Erase', exact: true }).click()
  await words(page, 'You', 'Erased').waitFor()
  await words(page, 'Delegate', 'Erased').waitFor()
  // The dialog that lists the words may close after the timeline hides them.
  await expect.poll(() => page.getByText('vermilion').count()).toBe(0)
  await page.getByText(/Erasure requested: 1 message/).waitFor()
  await page.locator('.notice').getByRole('button', { name: 'Undo' }).click()
  await words(page, 'You', 'The door is vermilion now').waitFor()
  await words(page, 'Delegate', 'vermilion').waitFor()
  // The other offers to undo disappear too.
  await expect.poll(() => page.getByRole('button', { name: 'Undo' }).count()).toBe(0)
  // An erasure requested elsewhere hides the message too.
  const { seq } = (await service.client.get('/api/timeline')).json.events.find(
    ({ type }: { type: string }) => type === 'chat.message.received',
  )
  await service.client.post('/api/erasures', { kind: 'message', id: String(seq) })
  await words(page, 'You', 'Erased').waitFor()
  await composer(page).waitFor()
})

test('lists everything that is erased with a message in one box', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const { client } = service
  await client.post('/api/chat', { content: 'Remember that my locker code is pelican nine.' })
  await client.post('/api/chat', { content: 'What is my locker code?' })
  const page = await visit(browser(), service)
  await chooseOf(words(page, 'You', 'Remember that my locker'), 'Erase…')
  await page.getByRole('heading', { name: 'Also erased: copied or learned from it' }).waitFor()
  const boxes = await page.locator('h3 + .groups').evaluateAll((groups) =>
    groups.map((box) => ({
      isRound: getComputedStyle(box).borderRadius !== '0px',
      sides: [...box.children].map((group) => getComputedStyle(group).borderLeftWidth),
    })),
  )
  expect(boxes.map(({ isRound }) => isRound)).not.toContain(false)
  expect(boxes.flatMap(({ sides }) => sides).length).toBeGreaterThan(2)
  expect(new Set(boxes.flatMap(({ sides }) => sides))).toEqual(new Set(['0px']))
})

test('shows what Delegate changes in an open note, and warns of it while something is unsaved', async () => {
  const service = await startWholeService()
  const { json } = await service.client.post('/api/notes', { title: 'List', content: 'Milk' })
  const page = await visit(browser(), service, { path: `/notes/edit?id=${json.id}` })
  const text = page.getByLabel('Text, in markdown')
  const shown = (content: string) => expect.poll(() => text.inputValue()).toBe(content)
  await shown('Milk')
  await service.client.put(`/api/notes/${json.id}`, { title: 'List', content: 'Milk, bread' })
  await shown('Milk, bread')
  await page.getByText('Saved', { exact: true }).waitFor()
  await text.fill('Milk, bread, tea')
  await service.client.put(`/api/notes/${json.id}`, { title: 'List', content: 'Milk, bread, figs' })
  await page.getByText('changed elsewhere since you opened it').waitFor()
  expect(await text.inputValue()).toBe('Milk, bread, tea')
  await page.getByRole('button', { name: 'Load the other version' }).click()
  await shown('Milk, bread, figs')
})

test('reports a conflicting edit and overwrites it on request', async () => {
  const service = await startWholeService()
  const { id } = (await service.client.post('/api/notes', { title: 'Plan', content: 'First.' })).json
  const page = await visit(browser(), service, { path: `/notes/edit?id=${id}`, expected: /412/ })
  const mine = 'Mine.\n'.repeat(200)
  const text = page.getByRole('textbox', { name: 'Text, in markdown' })
  await text.fill(mine)
  await text.press('Control+End')
  await service.client.put(`/api/notes/${id}`, { content: 'Theirs.' })
  // The draft survives an attempt to leave the page.
  await page.evaluate(() => window.dispatchEvent(new Event('beforeunload')))
  await page.getByRole('button', { name: 'Save' }).click()
  const warning = page.getByText('changed elsewhere since you opened it')
  // Above the end of a long note, where the owner types.
  await expect.poll(async () => (await warning.boundingBox())?.y).toBeGreaterThan(0)
  expect(await findings(page)).toEqual([])
  await page.getByRole('button', { name: 'Overwrite with mine' }).click()
  await expect.poll(async () => (await service.client.get(`/api/notes/${id}`)).json.content).toBe(mine)
  expect((await service.client.get(`/api/notes/${id}/revisions/2`)).json.content).toBe('Theirs.')
})

test('saves the words of a note that was deleted elsewhere as a new note, also after a reload', async () => {
  const service = await startWholeService()
  const { id } = (await service.client.post('/api/notes', { title: 'Plan', content: 'First.' })).json
  const page = await visit(browser(), service, { path: `/notes/edit?id=${id}`, expected: /404/ })
  const text = page.getByRole('textbox', { name: 'Text, in markdown' })
  await text.fill('An hour of work.')
  await service.client.delete(`/api/notes/${id}`)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('This note was deleted elsewhere.').waitFor()
  await checkLooks(page, 'note-deleted-elsewhere')
  await text.fill('Two hours of work.')
  page.on('dialog', (dialog) => void dialog.accept())
  await page.reload()
  await page.getByText('This note was deleted elsewhere.').waitFor()
  await page.getByRole('button', { name: 'Save as a new note' }).click()
  await page.getByText('This note was deleted elsewhere.').waitFor({ state: 'detached' })
  const { notes } = (await service.client.get('/api/notes')).json
  expect(notes).toMatchObject([{ title: 'Plan', excerpt: 'Two hours of work.' }])
  expect(page.url()).toContain(notes[0].id)
  await page.getByRole('heading', { name: 'Note', exact: true }).waitFor()
})

test('gives back the draft that the other version replaced', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const { id } = (await service.client.post('/api/notes', { title: 'Plan', content: 'First.' })).json
  const page = await visit(browser(), service, {
    path: `/notes/edit?id=${id}`,
    expected: /412/,
    slowTimers: true,
  })
  const text = page.getByRole('textbox', { name: 'Text, in markdown' })
  await text.fill('Mine, an hour of work.')
  await service.client.put(`/api/notes/${id}`, { content: 'Theirs.' })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Load the other version' }).click()
  await expect.poll(() => text.inputValue()).toBe('Theirs.')
  await page.getByRole('button', { name: 'Restore it' }).click()
  await expect.poll(() => text.inputValue()).toBe('Mine, an hour of work.')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect
    .poll(async () => (await service.client.get(`/api/notes/${id}`)).json.content)
    .toBe('Mine, an hour of work.')
})

test('gives back the draft that a restored revision replaced', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const { id } = (await service.client.post('/api/notes', { title: 'Plan', content: 'First.' })).json
  await service.client.put(`/api/notes/${id}`, { content: 'Second.' })
  const page = await visit(browser(), service, { path: `/notes/edit?id=${id}`, slowTimers: true })
  const text = page.getByRole('textbox', { name: 'Text, in markdown' })
  await text.fill('Mine, an hour of work.')
  await page.getByRole('button', { name: 'More for this note' }).click()
  await page.getByRole('menuitem', { name: 'History' }).click()
  await page.getByRole('button', { name: /revision 1/ }).click()
  await page.getByRole('button', { name: 'Restore this revision' }).click()
  await expect.poll(() => text.inputValue()).toBe('First.')
  await page.getByRole('button', { name: 'Restore it' }).click()
  await expect.poll(() => text.inputValue()).toBe('Mine, an hour of work.')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect
    .poll(async () => (await service.client.get(`/api/notes/${id}`)).json.content)
    .toBe('Mine, an hour of work.')
})

test('keeps the unsaved draft when a deletion is undone', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const { id } = (await service.client.post('/api/notes', { title: 'Plan', content: 'First.' })).json
  const page = await visit(browser(), service, { path: `/notes/edit?id=${id}`, slowTimers: true })
  const text = page.getByRole('textbox', { name: 'Text, in markdown' })
  await text.fill('Mine, an hour of work.')
  await page.getByRole('button', { name: 'More for this note' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Note restored.').waitFor()
  await page.goto(`/notes/edit?id=${id}`)
  await expect.poll(() => text.inputValue()).toBe('Mine, an hour of work.')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect
    .poll(async () => (await service.client.get(`/api/notes/${id}`)).json.content)
    .toBe('Mine, an hour of work.')
})

test('does not save a draft from before a reload over a newer version without asking', async () => {
  const service = await startWholeService()
  const { id } = (await service.client.post('/api/notes', { title: 'Plan', content: 'First.' })).json
  const page = await visit(browser(), service, { path: `/notes/edit?id=${id}`, expected: /412/ })
  const text = page.getByRole('textbox', { name: 'Text, in markdown' })
  await text.fill('Mine.')
  await service.client.put(`/api/notes/${id}`, { content: 'Theirs.' })
  page.on('dialog', (dialog) => void dialog.accept())
  await page.reload()
  await expect.poll(() => text.inputValue()).toBe('Mine.')
  await page.getByText('changed elsewhere since you opened it').waitFor()
  const refused = page.waitForResponse((answer) => answer.status() === 412)
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await refused
  expect((await service.client.get(`/api/notes/${id}`)).json.content).toBe('Theirs.')
  await page.getByRole('button', { name: 'Overwrite with mine' }).click()
  await expect.poll(async () => (await service.client.get(`/api/notes/${id}`)).json.content).toBe('Mine.')
})

// `visit` also fails on requests to other origins and on violations of the content security policy.
test('runs and fetches nothing for hostile notes on their page, in the list and in the editor', {
  tags: ['long'],
}, async () => {
  const service = await startWholeService()
  const ids: string[] = []
  for (const text of hostileTexts) {
    const title = text.slice(0, 200)
    ids.push((await service.client.post('/api/notes', { title, content: `${text}\n\nend` })).json.id)
  }
  const page = await visit(browser(), service, { path: '/notes' })
  page.on('dialog', (dialog) => void dialog.dismiss())
  await page.addInitScript(() => {
    const executed: string[] = []
    Object.assign(window, { executed, alert: () => executed.push('alert') })
  })
  const executed = () => page.evaluate(() => Reflect.get(window, 'executed'))
  for (const id of ids) {
    await page.goto(`/notes/${id}`)
    await page.getByText('end', { exact: true }).waitFor()
    expect(
      await page.locator('article :is(img, svg, iframe, form, input, style, script, object)').count(),
    ).toBe(0)
    for (const link of await page.locator('.prose a[href]').all()) {
      expect(await link.getAttribute('href')).toMatch(/^(https?:|mailto:|tel:|\/[^/])/)
    }
    expect(await executed()).toEqual([])
  }
  await page.goto('/notes')
  await page.getByRole('list', { name: 'Notes' }).getByRole('listitem').first().waitFor()
  expect(await executed()).toEqual([])
  for (const id of ids.slice(0, 4)) {
    await page.goto(`/notes/edit?id=${id}`)
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.locator('.preview').getByText('end', { exact: true }).waitFor()
    expect(
      await page.locator('.preview .prose :is(img, svg, iframe, form, input, style, script, object)').count(),
    ).toBe(0)
    expect(await executed()).toEqual([])
  }
})

test('keeps the tools of a note within a phone, in German too', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const { id } = (await service.client.post('/api/notes', { title: 'Plan', content: 'First.' })).json
  const page = await visit(browser(), service, {
    path: `/notes/edit?id=${id}`,
    context: { viewport: phone, locale: 'de-DE' },
  })
  const lastTool = page.getByRole('button', { name: 'Mehr zu dieser Notiz' })
  await expect.poll(async () => (await lastTool.boundingBox())?.y).toBeLessThan(48)
  await page.getByRole('button', { name: 'Vorschau' }).click()
  await page.getByRole('region', { name: 'Vorschau' }).waitFor()

  await page.setViewportSize({ width: 320, height: 640 })
  await page.goto(`/notes/${id}`)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
})
