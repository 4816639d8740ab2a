import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'

const directory = fileURLToPath(new URL('../../docs/screenshots', import.meta.url))

/** Saves a screenshot in docs/screenshots if `SCREENSHOTS=1` is set. */
export async function picture(page: Page, name: string, look: string): Promise<void> {
  if (process.env.SCREENSHOTS !== '1') return
  await page.waitForLoadState('networkidle')
  // What is under the pointer looks different.
  await page.mouse.move(0, 0)
  mkdirSync(directory, { recursive: true })
  await page.screenshot({ path: join(directory, `${name}-${look}.png`), animations: 'disabled' })
}
