import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import type { WholeService } from '../support/service.ts'

export const desk = { width: 1280, height: 800 }
export const phone = { width: 390, height: 844 }

export type VisitOptions = {
  readonly path?: string
  /** Signs the browser in with the session of the service's client. On by default. */
  readonly signedIn?: boolean
  readonly context?: BrowserContextOptions
  /** Console errors that the test causes on purpose. */
  readonly expected?: RegExp
  /** Lets the page start its service worker. Requests that it answers are not watched. */
  readonly worker?: boolean
  /** Keeps notifications open and content unrefreshed: timers of 5 s or more take an hour. */
  readonly slowTimers?: boolean
}

/** Generous, because only a failing test reaches it. */
const waitLimitMs = 150_000

/**
 * Opens a page of the service in a browser context of its own. The test fails at its end on an exception, a
 * console error (such as a violation of the content security policy) or a request to another origin.
 */
export async function visit(
  browser: Browser,
  service: Pick<WholeService, 'origin' | 'client' | 'setupCode'>,
  options: VisitOptions = {},
): Promise<Page> {
  const context = await browser.newContext({
    baseURL: service.origin,
    viewport: desk,
    locale: 'en-GB',
    // Saves the frames of transitions. `looks` have ordinary motion.
    reducedMotion: 'reduce',
    serviceWorkers: options.worker ? 'allow' : 'block',
    ...options.context,
  })
  context.setDefaultTimeout(waitLimitMs)
  if (options.slowTimers) await context.addInitScript(stretchTimers)
  const errors: string[] = []
  const foreignRequests: string[] = []
  // Watched, not intercepted: interception costs a round trip per request and switches the cache off.
  context.on('request', (request) => {
    const url = new URL(request.url())
    if (/^https?:$/.test(url.protocol) && url.origin !== service.origin) foreignRequests.push(url.href)
  })
  if (options.signedIn !== false) {
    const [name = '', value = ''] = (service.client.cookie() ?? '').split('=')
    await context.addCookies([{ name, value, url: service.origin, httpOnly: true, sameSite: 'Lax' }])
  }
  context.on('page', (page) => {
    page.on('pageerror', (error) => errors.push(String(error.stack)))
    page.on('console', (message) => {
      if (message.type() === 'error' && !options.expected?.test(message.text())) errors.push(message.text())
    })
  })
  onTestFinished(async () => {
    await context.close()
    expect(errors).toEqual([])
    expect(foreignRequests).toEqual([])
  })
  const page = await context.newPage()
  await page.goto(
    options.path ?? (options.signedIn === false && service.setupCode ? `/install#${service.setupCode}` : '/'),
  )
  return page
}

/** The field for messages. */
export const composer = (page: Page) => page.getByRole('textbox', { name: 'Message' })

/** Sends a chat message. */
export async function say(page: Page, text: string): Promise<void> {
  await composer(page).fill(text)
  await composer(page).press('Enter')
}

/** The timeline entries with this author and text. */
export const words = (page: Page, author: 'You' | 'Delegate', text: string | RegExp) =>
  page.getByRole('article', { name: new RegExp(`^${author},`) }).filter({ hasText: text })

/** A finished reply on the timeline, not its preview. */
export const reply = (page: Page, text: string | RegExp) =>
  page.getByRole('article', { name: /^Delegate, \d/ }).filter({ hasText: text })

/** Matches the element only while it has the focus. */
export const inFocus = (locator: Locator) => locator.and(locator.page().locator(':focus'))

/** Opens the search and waits until its field has the focus. */
export async function openSearch(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Search' }).click()
  await inFocus(page.getByRole('searchbox', { name: 'Search the timeline' })).waitFor()
}

/** Chooses from the menu of a message. Focuses the message first, because new rows may move it. */
export async function choose(message: Locator, item: string): Promise<void> {
  await message.focus()
  await message.getByRole('button', { name: 'More for this message' }).click()
  await message.page().getByRole('menuitem', { name: item, exact: true }).click()
}

/** Presses the keys without waiting in between, so that a slow test process adds no delay. */
async function pressKeys(page: Page, ...keys: readonly string[]): Promise<void> {
  await Promise.all(keys.map((key) => page.keyboard.press(key)))
}

/** Presses a sequence of keys that has a time limit, and retries if a busy browser missed the limit. */
export async function pressUntilShown(page: Page, keys: readonly string[], shown: Locator): Promise<void> {
  for (let retriesLeft = 2; retriesLeft > 0; retriesLeft -= 1) {
    await pressKeys(page, ...keys)
    const isShown = await shown.waitFor({ timeout: 20_000 }).then(
      () => true,
      () => false,
    )
    if (isShown) return
  }
  await pressKeys(page, ...keys)
  await shown.waitFor()
}

/**
 * Answers the first request with status 500 and holds later ones until the returned function is called, so
 * that the page cannot recover by itself.
 */
export async function failFirstRequest(page: Page, url: string): Promise<() => void> {
  const recovered = Promise.withResolvers<void>()
  onTestFinished(() => recovered.resolve())
  let failed = false
  await page.route(url, async (route) => {
    if (!failed) {
      failed = true
      return route.fulfill({ status: 500, body: '{}' })
    }
    await recovered.promise
    return route.fallback()
  })
  return recovered.resolve
}

/**
 * Records each text that matching elements show from now on, across shadow roots, however briefly. Returns a
 * reader of the texts.
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

/** Waits until the page shows its heading and no loading indicator. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await expect.poll(() => page.getByRole('status', { name: /^Loading/ }).count()).toBe(0)
}

/** Runs in the page before its scripts: a timer of 5 s or more takes an hour. */
function stretchTimers(): void {
  const { setTimeout, setInterval } = window
  const stretched = (ms = 0) => (ms >= 5_000 ? 3_600_000 : ms)
  Object.assign(window, {
    setTimeout: (act: () => void, ms?: number) => setTimeout(act, stretched(ms)),
    setInterval: (act: () => void, ms?: number) => setInterval(act, stretched(ms)),
  })
}
