import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { startWithModel } from './model.ts'
import { desk, phone, visit } from './page.ts'

const browser = useBrowser()

/** `SCREENSHOTS=1` writes docs/screenshots anew while the pages are walked. */
const pictures = process.env.SCREENSHOTS === '1'
const directory = fileURLToPath(new URL('../../docs/screenshots', import.meta.url))

async function picture(page: Page, name: string, look: string): Promise<void> {
  if (!pictures) return
  mkdirSync(directory, { recursive: true })
  await page.screenshot({ path: join(directory, `${name}-${look}.png`), animations: 'disabled' })
}

const markdown = `# Packing for Lisbon

- [x] Passport, cards
- [ ] Rain jacket, the *blue* one
- [ ] Chargers

> The train to the airport leaves at **6:12**.

\`\`\`ts
const daysLeft = (date: Date) => Math.ceil((date.getTime() - Date.now()) / 86_400_000)
\`\`\`

| Day | Plan |
|---|---|
| Friday | Alfama, dinner with Mira |
| Saturday | Sintra |
`

/** A house that somebody lives in. */
async function furnished() {
  const { service, model } = await startWithModel()
  const { client } = service
  model.answerWith(() => ({ text: 'Noted. I will keep that in mind.' }))
  const say = async (content: string, text: string) => {
    model.reply({ text })
    await client.post('/api/chat', { content })
  }
  await say(
    'We are off to Lisbon on the 12th. What should I think of?',
    'A short list:\n\n1. **Passport and cards**: yours is valid until March.\n2. A rain jacket: April is wet there.\n3. The 6:12 train to the airport.\n\nShall I keep it as a note?',
  )
  await say(
    'Yes, please. And remember that Mira is allergic to nuts.',
    'Done: it is in “Packing for Lisbon”. I will remember about Mira and nuts.',
  )
  const note = await client.post('/api/notes', { title: 'Packing for Lisbon', content: markdown })
  await client.post('/api/notes', {
    title: 'Garden',
    content: 'Prune the roses in **February**; sow beans in May.',
  })
  await client.post('/api/timers', { title: 'Water the plants', recurrence: '5 9 * * 1-5' })
  await client.post('/api/timers', { title: 'Check in for Lisbon', at: '2031-04-11T08:00' })
  await client.post('/api/adaptations/brief', {
    title: 'Be brief',
    content: 'Answer in at most three sentences unless I ask for more.',
    enabled: true,
    channels: ['chat', 'sms'],
  })
  await client.post('/api/tasks', { title: 'Tidy the photo folder', prompt: 'Sort the photos by year.' })
  service.log.warn({ attempt: 2 }, 'the model service was slow to answer')
  service.log.error({ path: '/sms', status: 403 }, 'a request with a bad signature was refused')
  return { service, noteId: String(note.json.id) }
}

const looks = [
  { look: 'desk', context: { viewport: desk, colorScheme: 'light' } },
  { look: 'phone', context: { viewport: phone, colorScheme: 'dark', hasTouch: true, isMobile: true } },
] as const

for (const { look, context } of looks) {
  test(`every page that the navigation names, and those behind them, stands at its address and is sound (${look})`, async () => {
    const { service, noteId } = await furnished()
    const page = await visit(browser(), service, { context })
    await page.getByRole('textbox', { name: 'Message' }).waitFor()
    const links = page.locator('nav[aria-label=Pages] a')
    const listed = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))
    expect(listed).toEqual(expect.arrayContaining(['/', '/memories', '/timers', '/settings', '/logs']))
    const others = ['/settings/memory', '/memory-config', '/logs.html', `/notes/${noteId}`, '/docs']
    for (const path of [...listed, ...others]) {
      const answer = await page.goto(path)
      expect([path, answer?.status()]).toEqual([path, 200])
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      await page.waitForLoadState('networkidle')
      expect([path, await page.getByText('cannot be shown').count()]).toEqual([path, 0])
      expect([path, await findings(page)]).toEqual([path, []])
      const width = await page.evaluate(() => document.documentElement.scrollWidth)
      expect([path, width]).toEqual([path, context.viewport.width])
      if (path !== '/logs.html') await picture(page, nameOf(path, noteId), look)
    }
    if (look === 'phone') {
      await page.goto('/')
      await page.getByRole('button', { name: 'Open the navigation' }).click()
      await page.getByRole('link', { name: 'Settings' }).waitFor()
      expect(await findings(page)).toEqual([])
      await picture(page, 'navigation', look)
    }
  })

  test(`every step of setting up is sound (${look})`, async () => {
    const service = await startWholeService({ installed: false })
    const page = await visit(browser(), service, { signedIn: false, context })
    const heading = (name: string) => page.getByRole('heading', { name, exact: true })
    const checked = async (name: string) => {
      expect([name, await findings(page)]).toEqual([name, []])
      await picture(page, name, look)
    }
    await heading('Meet your delegate').waitFor()
    await checked('install')
    await page.getByLabel('Password', { exact: true }).fill('a long walk by the river')
    await page.getByRole('button', { name: 'Set up' }).click()
    await heading('Where are you?').waitFor()
    await checked('welcome-timezone')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('Another service than OpenAI').click()
    await page.getByLabel('Address').fill('http://127.0.0.1:9/v1')
    await page.getByRole('button', { name: 'Save and test' }).click()
    await page.getByRole('list', { name: 'It does not work' }).waitFor()
    await checked('welcome-model')
    await page.getByRole('button', { name: 'Use the builtin model' }).click()
    await heading('Reach it by phone?').waitFor()
    await checked('welcome-phone')
    await page.getByRole('button', { name: 'Not now' }).click()
    await page.getByRole('button', { name: 'Remember that I take my coffee black' }).click()
    await page.getByRole('button', { name: 'To your timeline' }).waitFor()
    await checked('welcome-message')
    await page.getByRole('button', { name: 'To your timeline' }).click()
    await page.getByRole('textbox', { name: 'Message' }).waitFor()
    await page.context().clearCookies()
    await page.goto('/')
    await heading('Welcome back').waitFor()
    await checked('login')
  })
}

const otherLooks = [
  { look: 'desk, dark', context: { viewport: desk, colorScheme: 'dark' } },
  { look: 'phone, light', context: { viewport: phone, colorScheme: 'light', reducedMotion: 'reduce' } },
] as const

for (const { look, context } of otherLooks) {
  test(`every page is reached, and left again, by the keyboard alone (${look})`, async () => {
    const { service } = await furnished()
    const page = await visit(browser(), service, { path: '/timers', context })
    await page.getByText('Water the plants').waitFor()
    await page.keyboard.press('Control+/')
    const rows = page.locator('dg-shortcut-sheet dl').last().locator('> div')
    await rows.first().waitFor()
    const places = await rows.evaluateAll((all) =>
      all.map((row) => ({
        title: row.querySelector('dt')?.textContent ?? '',
        key: row.querySelectorAll('kbd')[1]?.textContent?.toLowerCase() ?? '',
      })),
    )
    await page.keyboard.press('Escape')
    expect(places.length).toBeGreaterThanOrEqual(7)
    for (const { title, key } of [...places.filter(({ key }) => key !== 't'), ...places.slice(0, 1)]) {
      await page.keyboard.press('g')
      await page.keyboard.press(key)
      await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
      await page.waitForLoadState('networkidle')
      expect([title, await findings(page)]).toEqual([title, []])
      if (title === 'Timeline') continue
      await page.getByRole('region', { name: title, exact: true }).and(page.locator(':focus')).waitFor()
      await page.keyboard.press('Tab')
      // Where the page has nothing to press, the next stop is the beginning of the document again.
      if (await page.evaluate(() => document.activeElement === document.body))
        await page.keyboard.press('Tab')
      const inFocus = await page.evaluate(() => {
        let element = document.activeElement
        while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
        const { outlineStyle } = getComputedStyle(element ?? document.body)
        return [element?.tagName !== 'BODY', outlineStyle !== 'none']
      })
      expect([title, ...inFocus]).toEqual([title, true, true])
      // Letters are letters in a field; from there the way back to the page is its frame.
      await page.getByRole('region', { name: title, exact: true }).focus()
    }
  })
}

function nameOf(path: string, noteId: string): string {
  if (path === '/') return 'timeline'
  return path.replace(noteId, 'one').slice(1).replaceAll(/[/.]/g, '-')
}
