import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Browser, BrowserContext, Page, Response } from 'playwright-core'
import { launchBrowser } from '../browser/browser.ts'
import { watchForField } from './field.ts'
import { generateLedger } from './generate.ts'
import { startServiceProcess } from './service-process.ts'
import { median, quantile } from './statistics.ts'
import { type Task, traceTasks } from './trace.ts'

/**
 * `npm run bench:web`: how soon the first page is usable on a cold cache, what it transfers, and how long
 * tasks are while a timeline scrolls. Reports processor time too, because on a shared machine the rest is
 * waiting.
 */
const EVENTS = Number(process.env.EVENTS ?? 100_000)
const SECONDS = Number(process.env.SECONDS ?? 30)
const RUNS = 5
const LONG_MS = 50
/** The scroll distance of one wheel notch; one notch per frame is the fastest that a wheel turns. */
const NOTCH_PX = 120

const directory = mkdtempSync(join(tmpdir(), 'delegate-web-'))
const say = (line: string) => process.stdout.write(`${line}\n`)
const load = () => `load ${loadavg()[0]?.toFixed(1)}`

generateLedger(directory, EVENTS)
// In its own process, so that measuring does not slow the service down.
const service = await startServiceProcess({ DATA_DIR: directory })
const origin = `http://127.0.0.1:${service.port}`
try {
  for (const [what, path, isSignedIn] of [
    ['timeline', '/', true],
    ['sign-in', '/login', false],
  ] as const) {
    await measureFirstPage(what, path, isSignedIn)
  }
  await measureScrolling()
} finally {
  await service.close()
  rmSync(directory, { recursive: true, force: true })
}

async function open(browser: Browser, isSignedIn: boolean): Promise<BrowserContext> {
  const context = await browser.newContext({ baseURL: origin, viewport: { width: 1280, height: 800 } })
  const [name = '', value = ''] = service.cookie().split('=')
  if (isSignedIn) {
    await context.addCookies([{ name, value, url: origin, httpOnly: true, sameSite: 'Lax' }])
  }
  return context
}

/** From the start of the navigation until the message or password field accepts input. */
async function measureFirstPage(what: string, path: string, isSignedIn: boolean): Promise<void> {
  const samples: number[] = []
  let transferred = 0
  let gzipped = 0
  for (let run = 0; run < RUNS; run += 1) {
    const browser = await launchBrowser()
    const context = await open(browser, isSignedIn)
    const page = await context.newPage()
    // A string, because this project's own types do not include the browser's.
    await page.addInitScript(watchForField)
    const network = await context.newCDPSession(page)
    await network.send('Network.enable')
    let bytes = 0
    network.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength
    })
    const responses: Response[] = []
    page.on('response', (response) => responses.push(response))
    await page.goto(path)
    samples.push(await page.evaluate(() => Reflect.get(globalThis, 'whenInteractive')))
    await page.keyboard.type('x')
    if (isSignedIn) await page.locator('[data-key]').first().waitFor()
    transferred = bytes
    // Later responses are not awaited, and their bodies would be lost with the browser.
    page.removeAllListeners('response')
    const bodies = await Promise.all(responses.map((response) => response.body()))
    gzipped = bodies.reduce((sum, body) => sum + gzipSync(body, { level: 9 }).length, 0)
    await browser.close()
  }
  say(
    `${what}: interactive after ${samples.map((ms) => ms.toFixed(0)).join(', ')} ms, median ${median(samples).toFixed(0)}; ` +
      `${(transferred / 1000).toFixed(0)} kB transferred, ${(gzipped / 1000).toFixed(0)} kB with gzip; ${load()}`,
  )
}

async function measureScrolling(): Promise<void> {
  const browser = await launchBrowser()
  const context = await open(browser, true)
  const page = await context.newPage()
  await page.goto('/')
  await page.locator('[data-key]').first().waitFor()
  await page.waitForTimeout(2_000)
  const stop = await traceTasks(await browser.newBrowserCDPSession())
  await page.mouse.move(700, 400)
  await turnWheel(page)
  const tasks = await stop()
  const rows = await page.locator('[data-key]').count()
  const backPx = await page.locator('.scroller').evaluate((e) => Math.round(e.scrollHeight - e.scrollTop))
  const elements = await page.locator('*').count()
  await browser.close()
  const long = tasks.filter(({ ms }) => ms > LONG_MS)
  const longWork = tasks.filter(({ cpuMs }) => cpuMs > LONG_MS)
  const worst = (of: (task: Task) => number) => Math.max(0, ...tasks.map(of)).toFixed(0)
  say(
    `scrolling back ${backPx} px: ${tasks.length} tasks in ${SECONDS} s, ${long.length} over ${LONG_MS} ms, the longest ${worst(({ ms }) => ms)} ms; ` +
      `${longWork.length} that worked over ${LONG_MS} ms, the most ${worst(({ cpuMs }) => cpuMs)} ms, ` +
      `p99.9 ${quantile(
        tasks.map(({ cpuMs }) => cpuMs),
        0.999,
      ).toFixed(0)} ms; ${rows} rows, ${elements} elements; ${load()}`,
  )
  for (const { ms, cpuMs, parts } of tasks.toSorted((a, b) => b.cpuMs - a.cpuMs).slice(0, 12)) {
    const of = parts.map(({ name, ms: own }) => `${name} ${own.toFixed(0)}`).join(', ')
    say(`  ${ms.toFixed(0)} ms, worked ${cpuMs.toFixed(0)}: ${of}`)
  }
}

async function turnWheel(page: Page): Promise<void> {
  const until = Date.now() + SECONDS * 1000
  while (Date.now() < until) {
    await page.mouse.wheel(0, -NOTCH_PX)
    await page.waitForTimeout(16)
  }
}
