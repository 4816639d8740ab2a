import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { wavOf } from '../doubles/model/wav.ts'
import { startWithPhone } from '../phone/phone-harness.ts'
import { startWholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { visitApp } from './installed.ts'
import { choose, composer, reply, visit } from './page.ts'

const browser = useBrowser()

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Sign out', exact: true }).first().click()
  await page.getByRole('heading', { name: 'Welcome back' }).waitFor()
}

test('stops reading aloud on sign-out', async () => {
  const { service, text } = await startWithPhone({
    environment: { REALTIME_MODEL: '', SPEECH_MODEL: 'test-voice' },
  })
  text.speakWith(() => wavOf(Array.from({ length: 24_000 * 60 }, () => 0)))
  text.reply({ text: 'It leaves at nine fifteen.' })
  await service.client.post('/api/chat', { content: 'When does the train leave?' })
  const page = await visit(browser(), service)
  await page.evaluate(() => {
    const { close } = AudioContext.prototype
    AudioContext.prototype.close = function () {
      Object.assign(window, { isSilent: true })
      return close.call(this)
    }
  })
  await choose(reply(page, 'It leaves at nine fifteen'), 'Read aloud')
  await page.getByText('Reading aloud…').waitFor()
  await signOut(page)
  await page.getByText('Reading aloud…').waitFor({ state: 'detached' })
  await expect.poll(() => page.evaluate(() => Reflect.get(window, 'isSilent'))).toBe(true)
})

const draftIn = (tab: Page) => tab.evaluate(() => sessionStorage.getItem('delegate.draft'))

/** Opens a tab that keeps a draft and shows a page without the app. */
async function leaveDraft(page: Page, path: string): Promise<Page> {
  const tab = await page.context().newPage()
  await tab.goto('/')
  await composer(tab).fill('Half of a sentence')
  await tab.goto(path)
  expect(await draftIn(tab)).toContain('Half of a sentence')
  return tab
}

test('clears a draft on sign-out in a tab that shows a page without the app', async () => {
  const page = await visit(browser(), await startWholeService())
  const tab = await leaveDraft(page, '/docs')
  await signOut(page)
  await tab.goto('/')
  await tab.getByRole('heading', { name: 'Welcome back' }).waitFor()
  expect(await draftIn(tab)).toBeNull()
})

test('leaves a note that another tab shows, and clears its draft, on sign-out', async () => {
  const service = await startWholeService()
  const { id } = (await service.client.post('/api/notes', { title: 'Secret', content: 'The safe.' })).json
  const page = await visitApp(browser(), service)
  const tab = await leaveDraft(page, `/notes/${id}`)
  await signOut(page)
  await tab.getByRole('heading', { name: 'Welcome back' }).waitFor()
  expect(await draftIn(tab)).toBeNull()
})
