import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { beforeAll, vi } from 'vitest'

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

/** Limits for what never ends, on a slow machine too. */
const testLimitMs = 300_000
const launchLimitMs = 180_000

/**
 * The system's Chromium, else the one that comes inside npm; never a download. The package's own arguments are left
 * out: they are for cloud functions, put everything into one process, and switch web security off.
 */
export async function launchBrowser(): Promise<Browser> {
  const system = process.env.CHROMIUM_PATH ?? systemBrowsers.find((path) => existsSync(path))
  const executablePath = system ?? (await packedBrowser())
  return chromium.launch({ executablePath, args: quietArguments, timeout: launchLimitMs })
}

async function packedBrowser(): Promise<string> {
  const { default: packed } = await import('@sparticuz/chromium')
  return packed.executablePath()
}

let launched: Promise<Browser> | undefined

/** The browser of this worker, started with its first test and again if it has crashed. */
async function workersBrowser(): Promise<Browser> {
  if (launched === undefined || !(await launched).isConnected()) launched = launchBrowser()
  return launched
}

/**
 * Returns the browser that all tests of a worker share; each test has a context, and so a profile, of its own. Call it
 * before declaring tests: it gives them the limits of tests with a browser. Playwright ends the browser with the worker.
 */
export function useBrowser(): () => Browser {
  vi.setConfig({ testTimeout: testLimitMs, hookTimeout: launchLimitMs })
  let browser: Browser | undefined
  beforeAll(async () => {
    browser = await workersBrowser()
  })
  return () => {
    if (!browser) throw new Error('the browser is not there yet')
    return browser
  }
}
