import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, vi } from 'vitest'

/** Where systems keep a Chromium. */
const systemBrowsers = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** It talks to the service under test and to nobody else. */
const quietArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** What comes, comes in its time, on a slow machine too: the limits are there for what never comes. */
const testLimitMs = 300_000
const launchLimitMs = 180_000

/** The system's Chromium, else the one that comes inside npm; never a download. */
export async function launchBrowser(): Promise<Browser> {
  const named = process.env.CHROMIUM_PATH
  const system = named ?? systemBrowsers.find((path) => existsSync(path))
  if (system !== undefined) {
    return chromium.launch({ executablePath: system, args: quietArguments, timeout: launchLimitMs })
  }
  const { default: packed } = await import('@sparticuz/chromium')
  return chromium.launch({
    executablePath: await packed.executablePath(),
    args: [...packed.args, ...quietArguments],
    timeout: launchLimitMs,
  })
}

/**
 * One browser for the tests of a file; each test has a context, and so a profile, of its own. To be called before
 * the tests are declared: it gives them the limits of tests with a browser.
 */
export function useBrowser(): () => Browser {
  vi.setConfig({ testTimeout: testLimitMs, hookTimeout: launchLimitMs })
  let browser: Browser | undefined
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
  })
  return () => {
    if (!browser) throw new Error('the browser is not there yet')
    return browser
  }
}
