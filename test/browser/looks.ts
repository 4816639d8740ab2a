import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { findings } from './axe.ts'
import { desk, phone } from './page.ts'
import { picture } from './picture.ts'

const sizes = { desk, phone }

/** The contexts of both widths, with ordinary motion. A phone has a touch screen. */
export const looks = [
  ['desk', { viewport: desk, reducedMotion: 'no-preference' }],
  ['phone', { viewport: phone, hasTouch: true, isMobile: true, reducedMotion: 'no-preference' }],
] as const

/** The daily tests try such variants at the width of a desk alone. */
export const tagsOf = (look: string) => (look.startsWith('desk') ? [] : ['long'])

/**
 * Checks in both themes that axe finds nothing on the page and that nothing is wider than it, and takes its
 * pictures. `shown` is scrolled into view. The page is light afterwards.
 */
export async function checkThemes(
  page: Page,
  name: string,
  look: keyof typeof sizes,
  shown?: Locator,
): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    await shown?.scrollIntoViewIfNeeded()
    const themed = colorScheme === 'dark' ? `${look}-dark` : look
    expect([name, themed, await findings(page)]).toEqual([name, themed, []])
    const width = async () => [name, themed, await page.evaluate(() => document.documentElement.scrollWidth)]
    await expect.poll(width).toEqual([name, themed, sizes[look].width])
    await picture(page, name, themed)
  }
}

/** `checkThemes` at both widths. The page has the width of a desk afterwards. */
export async function checkLooks(page: Page, name: string, shown?: Locator): Promise<void> {
  for (const look of ['phone', 'desk'] as const) {
    await page.setViewportSize(sizes[look])
    await checkThemes(page, name, look, shown)
  }
}
