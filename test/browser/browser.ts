import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { beforeAll, vi } from 'vitest'

/** The usual paths of a system's Chromium. */
const systemBrowsers = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** Keeps the browser from making requests of its own. */
const quietArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
]

/** Generous: only a hang reaches them, even on a slow machine. */
const testLimitMs = 300_000
const launchLimitMs = 180_000

/**
 * Launches the system's Chromium, or else the one from npm; never downloads one. Leaves out the package's
 * arguments, which use a single process and disable web security.
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

/** The browser of this worker: starts on first use, and again after a crash. */
async function browserOfWorker(): Promise<Browser> {
  if (launched === undefined || !(await launched).isConnected()) launched = launchBrowser()
  return launched
}

/**
 * Returns the browser that all tests of a worker share; each test opens its own context. Call it before
 * declaring tests, because it sets their time limits. Playwright closes the browser with the worker.
 */
export function useBrowser(): () => Browser {
  vi.setConfig({ testTimeout: testLimitMs, hookTimeout: launchLimitMs })
  let browser: Browser | undefined
  beforeAll(async () => {
    browser = await browserOfWorker()
  })
  return () => {
    if (!browser) throw new Error('the browser has not started yet')
    return browser
  }
}
