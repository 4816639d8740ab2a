import { type Browser, chromium } from 'playwright-core'
import { beforeAll } from 'vitest'
import { browserPath } from './browser-path.ts'

/** Keeps the browser from making requests of its own. */
const quietArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
]

/** Generous: only a hang reaches it, even on a slow machine. */
const launchLimitMs = 180_000

/** Launches the Chromium of `browserPath`. */
export async function launchBrowser(more: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: await browserPath(),
    args: [...quietArguments, ...more],
    timeout: launchLimitMs,
  })
}

let launched: Promise<Browser> | undefined

/** The browser of this worker: starts on first use, and again after a crash. */
async function browserOfWorker(): Promise<Browser> {
  if (launched === undefined || !(await launched).isConnected()) launched = launchBrowser()
  return launched
}

/**
 * Returns the browser that all tests of a worker share; each test opens its own context. Playwright closes it with the
 * worker.
 */
export function useBrowser(): () => Browser {
  let browser: Browser | undefined
  beforeAll(async () => {
    browser = await browserOfWorker()
  })
  return () => {
    if (!browser) throw new Error('the browser has not started yet')
    return browser
  }
}
