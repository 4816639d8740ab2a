import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { pagePaths } from './app-source.ts'
import { useBrowser } from './browser.ts'
import { startHouse } from './house.ts'
import { checkThemes, looks, tagsOf } from './looks.ts'
import { composer, desk, inFocus, pressUntilShown, settled, visit } from './page.ts'
import { picture } from './picture.ts'

const browser = useBrowser()

for (const [look, context] of looks) {
  test(`every page is served at its address and is accessible (${look})`, {
    tags: tagsOf(look),
  }, async () => {
    const { service, noteId } = await startHouse()
    const page = await visit(browser(), service, { context })
    await page.getByRole('textbox', { name: 'Message' }).waitFor()
    const links = page.locator('nav[aria-label=Pages] a')
    await links.first().waitFor({ state: 'attached' })
    const listed = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))
    expect(listed).toEqual(expect.arrayContaining(['/', '/memories', '/timers', '/settings', '/logs']))
    // The next test checks the pages before sign-in.
    const paths = pagePaths().filter((path) => !['/install', '/welcome', '/login'].includes(path))
    expect(paths).toEqual(expect.arrayContaining(listed))
    for (const path of [...paths, '/logs.html', `/notes/${noteId}`, '/docs']) {
      const answer = await page.goto(path)
      expect([path, answer?.status()]).toEqual([path, 200])
      await settled(page)
      expect([path, await page.getByText('cannot be shown').count()]).toEqual([path, 0])
      await checkThemes(page, pictureName(path, noteId), look)
      // App pages scroll within their frame; the document itself does not scroll.
      if (await page.locator('dg-shell').count()) {
        const height = async () => [path, await page.evaluate(() => document.documentElement.scrollHeight)]
        await expect.poll(height).toEqual([path, context.viewport.height])
      }
    }
    await page.goto('/settings')
    const sectionLinks = page.getByRole('navigation', { name: 'On this page' })
    for (const part of ['Telephony', 'Conversation', 'Password']) {
      await sectionLinks.getByRole('link', { name: part, exact: true }).click()
      await settled(page)
      await page.getByRole('heading', { level: 1, name: 'Settings' }).and(page.locator(':visible')).waitFor()
      await expect
        .poll(async () => [part, await page.evaluate(linksClearHeading, part.toLowerCase())])
        .toEqual([part, true])
      expect([part, await page.evaluate(() => scrollY)]).toEqual([part, 0])
      // The links may have moved under the pointer.
      await page.mouse.move(0, 0)
      await picture(page, `settings-${part.toLowerCase()}`, look)
    }
    if (look === 'phone') {
      await page.goto('/')
      await page.getByRole('button', { name: 'Open navigation' }).click()
      await page.getByRole('link', { name: 'Settings' }).waitFor()
      await checkThemes(page, 'navigation', look)
    }
  })

  test(`every step of setup is accessible (${look})`, { tags: ['long'] }, async () => {
    const service = await startWholeService({ installed: false })
    const page = await visit(browser(), service, { signedIn: false, context })
    const heading = (name: string) => page.getByRole('heading', { name, exact: true })
    const checked = (name: string) => checkThemes(page, name, look)
    await heading('Meet your delegate').waitFor()
    await checked('install')
    await page.getByLabel('Password', { exact: true }).fill('a long walk by the river')
    await page.getByRole('button', { name: 'Set up' }).click()
    await heading('Where are you?').waitFor()
    await checked('welcome-timezone')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Ollama' }).waitFor()
    await checked('welcome-services')
    await page.getByRole('button', { name: 'Ollama' }).click()
    await page.getByLabel('Address').fill('http://localhost:9/v1')
    await page.getByRole('button', { name: 'Test the connection' }).click()
    await page.getByRole('list', { name: 'Test failed' }).waitFor()
    await page.getByRole('button', { name: 'Choose another' }).click()
    await page.getByRole('button', { name: 'Without a service for now' }).click()
    await heading('Connect a phone').waitFor()
    await checked('welcome-phone')
    await page.getByRole('button', { name: 'Not now' }).click()
    await page.getByRole('button', { name: 'What can you do for me?' }).click()
    await page.getByRole('listitem').getByText('Remember', { exact: true }).waitFor()
    await checked('welcome-message')
    await page.getByRole('button', { name: 'Go to your timeline' }).click()
    await page.getByRole('textbox', { name: 'Message' }).waitFor()
    // Leaves the page first, because its requests fail once the cookie is gone.
    await page.goto('about:blank')
    await page.context().clearCookies()
    await page.goto('/')
    await heading('Welcome back').waitFor()
    await checked('login')
  })
}

test('reaches and leaves every page by keyboard', { tags: ['long'] }, async () => {
  const { service } = await startHouse()
  const page = await visit(browser(), service, {
    path: '/timers',
    context: { viewport: desk, colorScheme: 'dark' },
  })
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
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  expect(places.length).toBeGreaterThanOrEqual(7)
  for (const { title, key } of [...places.filter(({ key }) => key !== 't'), ...places.slice(0, 1)]) {
    const heading = page.getByRole('heading', { level: 1, name: title, exact: true })
    await pressUntilShown(page, ['g', key], heading)
    await settled(page)
    // The page must have the focus before it receives the next keys.
    const region = page.getByRole('region', { name: title, exact: true })
    await inFocus(title === 'Timeline' ? composer(page) : region).waitFor()
    if (title === 'Timeline') continue
    await page.keyboard.press('Tab')
    // On a page without controls, the focus first wraps to the start of the document.
    if (await page.evaluate(() => document.activeElement === document.body)) await page.keyboard.press('Tab')
    const focused = await page.evaluate(() => {
      let element = document.activeElement
      while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
      const { outlineStyle } = getComputedStyle(element ?? document.body)
      return [element?.tagName !== 'BODY', outlineStyle !== 'none']
    })
    expect([title, ...focused]).toEqual([title, true, true])
    // Shortcuts do not work in a field, so move the focus back to the region.
    await region.focus()
    await inFocus(region).waitFor()
  }
})

/** Runs in the page: whether the section links are in view and do not cover the section's heading. */
function linksClearHeading(section: string): boolean {
  const sectionLinks = document.querySelector('.jumps')?.getBoundingClientRect()
  const heading = document.querySelector(`#${section} h2`)?.getBoundingClientRect()
  if (!sectionLinks || !heading || sectionLinks.top < 0 || heading.bottom > innerHeight) return false
  return heading.top >= sectionLinks.bottom || heading.right <= sectionLinks.left
}

function pictureName(path: string, noteId: string): string {
  if (path === '/') return 'timeline'
  return path.replace(noteId, 'one').replace('.html', '').slice(1).replaceAll('/', '-')
}
