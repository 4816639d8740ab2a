import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
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
}

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
  const context = await browser.newContext({ baseURL: service.origin, viewport: desk, ...options.context })
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
    await context.close()
    expect(troubles).toEqual([])
    expect(strangers).toEqual([])
  })
  const page = await context.newPage()
  await page.goto(options.path ?? '/')
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
