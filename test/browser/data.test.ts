import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import {
  chatGptConversation,
  claudeConversation,
  jsonList,
  over,
  upload,
  writeZip,
} from '../imports/exports.ts'
import { testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { ends } from './ends.ts'
import { checkLooks } from './looks.ts'
import { failFirstRequest, openSearch, visit } from './page.ts'

const browser = useBrowser()

const TALKS = [
  {
    id: 'moving',
    title: 'Moving to the coast',
    at: '2024-05-02T09:00:00.000Z',
    texts: [
      'My sister lives in Porto. What should I know about the city?',
      '**Porto** is hilly and mild.\n\n- Bring good shoes\n- Try the *francesinha*',
      'My favourite colour is teal. Which tiles would suit?',
      'Teal and white azulejos, then.',
    ],
  },
  {
    id: 'bread',
    title: 'Sourdough that does not rise',
    at: '2025-01-05T08:00:00.000Z',
    texts: ['Why is my bread dense?', 'It needs more time, and a warmer place.'],
  },
]

const chatGptZip = () =>
  writeZip('chatgpt-export.zip', {
    'conversations.json': () => jsonList(TALKS.map(chatGptConversation)),
  })

test('imports an export, reads and searches it, and erases it', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/settings' })
  await page.getByRole('link', { name: /^Your data/ }).click()
  await page.getByLabel('Choose files').setInputFiles(await chatGptZip())
  const imports = page.getByRole('region', { name: 'Import from other assistants' })
  await imports.getByText('Imported 2 conversations with 6 messages').waitFor()
  await page.getByLabel('Choose files').setInputFiles(await chatGptZip())
  await imports.getByText('Nothing new').waitFor()
  await imports.getByText('6 messages had been imported before').waitFor()
  await checkLooks(page, 'data-imports', page.getByRole('list', { name: 'Imports' }))

  await imports.getByRole('link', { name: '2 imported conversations' }).click()
  const list = page.getByRole('list', { name: 'Imported conversations' })
  await list.getByRole('listitem').nth(1).waitFor()
  expect(await list.getByRole('link').allInnerTexts()).toEqual([
    'Sourdough that does not rise',
    'Moving to the coast',
  ])
  await checkLooks(page, 'imported-list')
  await page.getByRole('searchbox').fill('francesinha')
  await list.locator('mark', { hasText: 'francesinha' }).waitFor()
  expect(await list.getByRole('listitem').count()).toBe(1)

  await list.getByRole('link', { name: 'Moving to the coast' }).click()
  await page.getByRole('heading', { name: 'Moving to the coast' }).waitFor()
  await page.locator('strong', { hasText: 'Porto' }).waitFor()
  expect(await page.getByRole('article').count()).toBe(4)
  await checkLooks(page, 'imported-conversation')

  await page.goto('/')
  await openSearch(page)
  await page.getByRole('searchbox').fill('francesinha')
  await page.getByRole('list', { name: 'Imported conversations' }).getByRole('button').click()
  await page.getByRole('heading', { name: 'Moving to the coast' }).waitFor()
  await page.getByRole('button', { name: 'Erase' }).click()
  await page.getByText('1 part of an imported conversation').waitFor()
  await page.getByRole('button', { name: 'Erase', exact: true }).last().click()
  await expect.poll(() => list.getByRole('link').allInnerTexts()).toEqual(['Sourdough that does not rise'])
})

test('erases the name of a file that was no export', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const path = join(testDirectory(), 'diagnosis.json')
  writeFileSync(path, 'Just some text.')
  const page = await visit(browser(), service, { path: '/data' })
  await page.getByLabel('Choose files').setInputFiles(path)
  await page.getByText('Not an export, or damaged').waitFor()
  await page.getByRole('button', { name: 'More for diagnosis.json' }).click()
  expect(await page.getByRole('menuitem').allInnerTexts()).toEqual(['Erase for good…'])
  await page.getByRole('menuitem', { name: 'Erase for good…' }).click()
  await page.getByRole('heading', { name: 'Erase “diagnosis.json”?' }).waitFor()
  await page.getByRole('button', { name: 'Erase', exact: true }).click()
  await page.getByText('Erased file').waitFor()
  expect(await page.getByRole('button', { name: /^More for/ }).count()).toBe(0)
})

test('lets no foreign title or file name turn around what the page says', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const turned = '\u202E\u2067Plans\u2069'
  const talk = claudeConversation({ id: 'plans', title: turned, texts: ['What about ferns?', 'Water them.'] })
  const path = await writeZip(`${turned}.zip`, { 'conversations.json': () => jsonList([talk]) })
  await over(service, await upload(service, path))
  const page = await visit(browser(), service, { path: '/data' })
  const readRight = async (shown: Locator) => {
    await shown.waitFor()
    const { first, last } = await ends(shown)
    expect(first).toBeLessThan(last)
  }
  await readRight(page.getByRole('list', { name: 'Imports' }).locator('p').first())
  await page.getByRole('button', { name: /^More for/ }).click()
  await page.getByRole('menuitem', { name: 'Erase for good…' }).click()
  await readRight(page.getByRole('dialog').getByRole('heading').first())
  await page.goto('/imported')
  await readRight(page.getByRole('list', { name: 'Imported conversations' }).getByRole('link'))
  await page.goto('/imported/read?id=claude-plans')
  await readRight(page.getByRole('heading', { name: 'Plans' }))
  await page.getByRole('button', { name: 'Erase' }).click()
  await readRight(page.getByRole('dialog').getByRole('heading').first())
  await page.goto('/')
  await openSearch(page)
  await page.getByRole('searchbox').fill('ferns')
  await readRight(page.getByRole('list', { name: 'Imported conversations' }).locator('.facts'))
})

test('says what reading costs, finds memories, and keeps what the owner selects', {
  tags: ['long'],
}, async () => {
  const service = await startWholeService()
  await over(service, await upload(service, await chatGptZip()))
  const page = await visit(browser(), service, { path: '/data' })
  await page.getByRole('button', { name: 'More for chatgpt-export.zip' }).click()
  await page.getByRole('menuitem', { name: 'Look for memories…' }).click()
  await page.getByText('No language model is set up, so this is free').waitFor()
  await checkLooks(page, 'imported-cost')
  await page.getByRole('button', { name: 'Look for memories' }).last().click()
  const list = page.getByRole('list', { name: 'Found memories' })
  await list.getByRole('listitem').nth(1).waitFor()
  await page.getByRole('button', { name: 'Select all' }).click()
  await page.getByText('2 selected').waitFor()
  await checkLooks(page, 'imported-candidates')
  await page.getByRole('checkbox', { name: /teal/ }).uncheck()
  await page.getByRole('button', { name: 'Keep' }).click()
  await page.getByText('Kept 1 memory').waitFor()
  await expect.poll(() => list.getByRole('listitem').count()).toBe(1)
  await page.getByRole('checkbox', { name: /teal/ }).check()
  await page.getByRole('button', { name: 'Drop' }).click()
  await page.getByRole('heading', { name: 'Nothing to decide on' }).waitFor()

  await page.goto('/memories')
  await page.getByText(/sister lives in Porto/).waitFor()
  await page.getByRole('link', { name: 'Show source' }).click()
  await page.getByRole('heading', { name: 'Moving to the coast' }).waitFor()
})

test('asks for a passphrase, and saves a backup and an export as files', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/timers', expected: /500/ })
  const recover = await failFirstRequest(page, '**/api/downloads')
  await page.goto('/data')
  const card = page.getByRole('region', { name: 'Download' })
  await card.getByRole('button', { name: 'Try again' }).click()
  recover()
  await card.getByRole('button', { name: 'Download a backup' }).click()
  await page.getByRole('textbox', { name: 'Passphrase' }).fill('short')
  await page.getByRole('button', { name: 'Make the backup' }).click()
  await page.getByText('Enter at least 12 characters').waitFor()
  await checkLooks(page, 'data-passphrase')
  await page.getByRole('textbox', { name: 'Passphrase' }).fill('seven grey herons')
  await page.getByRole('button', { name: 'Make the backup' }).click()
  await card.getByRole('link', { name: 'Save the file' }).waitFor()
  const saving = page.waitForEvent('download')
  await card.getByRole('link', { name: 'Save the file' }).click()
  const saved = await saving
  expect(saved.suggestedFilename()).toMatch(/^delegate-.*\.backup$/)
  expect(readFileSync(await saved.path(), 'latin1')).toMatch(/^age-encryption\.org\/v1/)
  await card.getByRole('button', { name: 'Export everything' }).click()
  await card.getByRole('link', { name: 'Save the file' }).nth(1).waitFor()
  await checkLooks(page, 'data-downloads')
  await card.getByRole('button', { name: 'Remove: Export' }).click()
  await expect.poll(() => card.getByRole('listitem').count()).toBe(1)
})

test('shows the last backup and the schedule, and downloads one with the passphrase that is set', async () => {
  const service = await startWholeService({
    environment: {
      BACKUP_DIRECTORY: join(testDirectory(), 'backups'),
      BACKUP_PASSPHRASE: 'seven grey herons',
    },
  })
  const page = await visit(browser(), service, { path: '/data' })
  const backups = page.getByRole('region', { name: 'Backups' })
  await backups.getByText('Passed').waitFor()
  await page.getByText('Backups are made each day at 03:00, and kept for 7 days').waitFor()
  await page.getByRole('button', { name: 'Download a backup' }).click()
  await page.getByRole('link', { name: 'Save the file' }).waitFor()
  await checkLooks(page, 'data-backups')
  await page.getByRole('link', { name: 'Change the schedule' }).click()
  await page.getByLabel('Hour of the day').waitFor()
})

test('goes on uploading when the answer to a piece was lost', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const texts = ['Hello?', 'Hi. '.repeat(400_000)]
  const path = join(testDirectory(), 'conversations.json')
  writeFileSync(path, JSON.stringify([claudeConversation({ id: 'long', title: 'Long', texts })]))
  const page = await visit(browser(), service, { path: '/data', expected: /409|ERR_FAILED/ })
  let isLost = false
  await page.route('**/api/imports/*/file?*', async (route) => {
    if (isLost) return route.continue()
    isLost = true
    await route.fetch()
    await route.abort()
  })
  await page.getByLabel('Choose files').setInputFiles(path)
  await page.getByText('Imported 1 conversation').waitFor()
})

test('shows the progress of a large import, which the owner cancels', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const many = function* () {
    for (let index = 0; index < 20_000; index += 1)
      yield claudeConversation({ id: `talk-${index}`, title: `Talk ${index}`, texts: ['Hello?', 'Hi.'] })
  }
  const path = await writeZip('claude.zip', { 'conversations.json': () => jsonList(many()) })
  const page = await visit(browser(), service, { path: '/data' })
  await page.getByLabel('Choose files').setInputFiles(path)
  await page.getByText(/^Importing: [1-9]/).waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('Cancelled').waitFor()
  await page.getByText(/conversations with .* before that/).waitFor()
})
