import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import type { WholeService } from '../support/service.ts'

export const desk = { width: 1280, height: 800 }
export const phone = { width: 390, height: 844 }

export type VisitOptions = {
  readonly path?: string
  /** Whether the browser is signed in with the session of the service's own client. */
  readonly signedIn?: boolean
  readonly context?: BrowserContextOptions
  /** Errors on the console that the test brings about itself. */
  readonly expected?: RegExp
  /**
   * Whether what the page does by itself after some seconds waits for as long as the test lasts: news stay until they
   * are dismissed, what is shown is not fetched again.
   */
  readonly unhurried?: boolean
}

/** What is waited for comes in its time: this is for what never comes. */
const waitLimitMs = 60_000

/**
 * Opens a page of the service as a browser of its own. When the test ends, nothing may have gone wrong unnoticed:
 * no exception, no error on the console (a breach of the content security policy is one), no request to anybody
 * but the service.
 */
export async function visit(
  browser: Browser,
  service: WholeService,
  options: VisitOptions = {},
): Promise<Page> {
  const context = await browser.newContext({
    baseURL: service.origin,
    viewport: desk,
    locale: 'en-GB',
    ...options.context,
  })
  context.setDefaultTimeout(waitLimitMs)
  if (options.unhurried) await context.addInitScript(waitLong)
  const troubles: string[] = []
  const strangers: string[] = []
  await context.route(
    (url) => url.origin !== service.origin,
    (route) => {
      strangers.push(route.request().url())
      return route.abort()
    },
  )
  if (options.signedIn !== false) {
    const [name = '', value = ''] = (service.client.cookie() ?? '').split('=')
    await context.addCookies([{ name, value, url: service.origin, httpOnly: true, sameSite: 'Lax' }])
  }
  context.on('page', (page) => {
    page.on('pageerror', (error) => troubles.push(String(error.stack)))
    page.on('console', (message) => {
      if (message.type() === 'error' && !options.expected?.test(message.text())) troubles.push(message.text())
    })
  })
  onTestFinished(async () => {
    await context.unrouteAll({ behavior: 'ignoreErrors' })
    await context.close()
    expect(troubles).toEqual([])
    expect(strangers).toEqual([])
  })
  const page = await context.newPage()
  await page.goto(
    options.path ?? (options.signedIn === false && service.setupCode ? `/install#${service.setupCode}` : '/'),
  )
  return page
}

/** The field in which the owner writes. */
export const composer = (page: Page) => page.getByRole('textbox', { name: 'Message' })

/** Says something, as the owner would. */
export async function say(page: Page, text: string): Promise<void> {
  await composer(page).fill(text)
  await composer(page).press('Enter')
}

/** Somebody's words on the timeline. */
export const words = (page: Page, author: 'You' | 'Delegate', text: string | RegExp) =>
  page.getByRole('article', { name: new RegExp(`^${author},`) }).filter({ hasText: text })

/** A whole reply on the timeline, no longer its preview. */
export const reply = (page: Page, text: string | RegExp) =>
  page.getByRole('article', { name: /^Delegate, \d/ }).filter({ hasText: text })

/** Whichever of these has the focus. */
export const inFocus = (locator: Locator) => locator.and(locator.page().locator(':focus'))

/** Opens the search, in which words can be typed then. */
export async function openSearch(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Search' }).click()
  await inFocus(page.getByRole('searchbox', { name: 'Search the timeline' })).waitFor()
}

/**
 * Chooses from the menu of a message. By the focus, which a row keeps wherever rows that arrive meanwhile move it, not
 * by the pointer, from under which they would move it.
 */
export async function choose(message: Locator, item: string): Promise<void> {
  await message.focus()
  await message.getByRole('button', { name: 'More for this message' }).click()
  await message.page().getByRole('menuitem', { name: item }).click()
}

/** Strikes keys one right after the other, however long this process takes between two of its own steps. */
async function strike(page: Page, ...keys: readonly string[]): Promise<void> {
  await Promise.all(keys.map((key) => page.keyboard.press(key)))
}

/**
 * The same for keys that count together only when they come within a time: where the browser itself was held up between
 * them, they are struck again, as its owner would.
 */
export async function strikeUntil(page: Page, keys: readonly string[], shown: Locator): Promise<void> {
  for (let left = 2; left > 0; left -= 1) {
    await strike(page, ...keys)
    const came = await shown.waitFor({ timeout: 20_000 }).then(
      () => true,
      () => false,
    )
    if (came) return
  }
  await strike(page, ...keys)
  await shown.waitFor()
}

/**
 * Answers the first request with an error, and lets the next ones wait for the function that it gives back: until then
 * the page cannot have got over the error by itself.
 */
export async function failing(page: Page, url: string): Promise<() => void> {
  const mended = Promise.withResolvers<void>()
  onTestFinished(() => mended.resolve())
  let failed = false
  await page.route(url, async (route) => {
    if (!failed) {
      failed = true
      return route.fulfill({ status: 500, body: '{}' })
    }
    await mended.promise
    return route.fallback()
  })
  return mended.resolve
}

/**
 * Watches what elements of a selector say, in every shadow root, from now on: each text once it is there, however
 * briefly. For what a page shows for a moment only, where the test may look too late.
 */
export async function watchTexts(page: Page, selector: string): Promise<() => Promise<readonly string[]>> {
  await page.evaluate((wanted) => {
    const texts: string[] = []
    const known = new WeakSet<Node>()
    const observer = new MutationObserver(() => look(document))
    const look = (root: Document | ShadowRoot): void => {
      if (!known.has(root)) observer.observe(root, { childList: true, subtree: true, characterData: true })
      known.add(root)
      for (const element of root.querySelectorAll('*')) {
        if (element.shadowRoot) look(element.shadowRoot)
        if (!element.matches(wanted)) continue
        const text = (element.textContent ?? '').replaceAll(/\s+/g, ' ').trim()
        if (!texts.includes(text)) texts.push(text)
      }
    }
    look(document)
    Object.assign(window, { watchedTexts: texts })
  }, selector)
  return () => page.evaluate(() => Reflect.get(window, 'watchedTexts'))
}

/** Waits until the page shows what it is for: its heading, and nothing that is still on its way. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await expect.poll(() => page.getByRole('status', { name: /^Loading/ }).count()).toBe(0)
}

/** In the page, before anything of it runs: a timer of some seconds becomes one of an hour. */
function waitLong(): void {
  const { setTimeout, setInterval } = window
  const stretched = (ms = 0) => (ms >= 5_000 ? 3_600_000 : ms)
  Object.assign(window, {
    setTimeout: (act: () => void, ms?: number) => setTimeout(act, stretched(ms)),
    setInterval: (act: () => void, ms?: number) => setInterval(act, stretched(ms)),
  })
}
