import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../src/config.ts'
import { createLog } from '../../src/log.ts'
import { startService } from '../../src/service.ts'
import { launchBrowser } from '../browser/browser.ts'
import { createClient } from '../http/client.ts'
import { generateLedger } from './generate.ts'

const EVENTS = Number(process.env.EVENTS ?? 100_000)
const SECONDS = 30
/** What a notch of a wheel scrolls; one a frame is as fast as it is turned. */
const NOTCH_PX = 120

/**
 * Scrolls back through a timeline of 100,000 events in a real browser, as fast as a wheel is turned, and says how
 * long the browser's tasks were.
 */
const directory = mkdtempSync(join(tmpdir(), 'delegate-scroll-'))
generateLedger(directory, EVENTS)
const config = loadConfig({ DATA_DIR: directory, PORT: '0', LOG_LEVEL: 'error' })
const { log, lines } = createLog({
  level: config.logLevel,
  write: (line) => process.stderr.write(line),
  secretValues: () => [],
})
const service = await startService({
  config,
  log,
  logLines: lines,
  nowMs: Date.now,
  random: Math.random,
  onSettings: () => undefined,
  onFatal: (error) => {
    throw error
  },
})
const client = createClient(service.port)
await client.post('/api/install', { password: 'a long walk by the river' })
const origin = `http://127.0.0.1:${service.port}`
const browser = await launchBrowser()
const context = await browser.newContext({ baseURL: origin, viewport: { width: 1280, height: 800 } })
const [name = '', value = ''] = (client.cookie() ?? '').split('=')
await context.addCookies([{ name, value, url: origin, httpOnly: true, sameSite: 'Lax' }])
const page = await context.newPage()
const began = performance.now()
await page.goto('/')
await page.getByRole('textbox', { name: 'Message' }).waitFor()
const interactiveMs = performance.now() - began
await page.locator('[data-key]').first().waitFor()
// As text: the types of this project's own code know no browser.
await page.evaluate(`
  globalThis.long = []
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) {
      globalThis.long.push({ at: Math.round(startTime), ms: Math.round(duration) })
    }
  }).observe({ type: 'longtask' })
`)
const profiler = await context.newCDPSession(page)
await profiler.send('Profiler.enable')
await profiler.send('Profiler.setSamplingInterval', { interval: 500 })
await profiler.send('Profiler.start')
await page.mouse.move(700, 400)
const until = Date.now() + SECONDS * 1000
while (Date.now() < until) {
  await page.mouse.wheel(0, -NOTCH_PX)
  await page.waitForTimeout(16)
}
const { profile } = await profiler.send('Profiler.stop')
const long: { at: number; ms: number }[] = await page.evaluate(() => Reflect.get(globalThis, 'long'))
const loaded = await page.locator('*').count()
await browser.close()
await service.close()
rmSync(directory, { recursive: true, force: true })

process.stdout.write(`first page interactive after ${interactiveMs.toFixed(0)} ms\n`)
process.stdout.write(
  `tasks over 50 ms: ${long.length}; longest ${Math.max(0, ...long.map(({ ms }) => ms))} ms; elements ${loaded}\n`,
)
process.stdout.write(`${long.map(({ at, ms }) => `${at}:${ms}`).join(' ')}\n`)
const selfMs = new Map<string, number>()
const byId = new Map(profile.nodes.map((node) => [node.id, node]))
profile.samples?.forEach((id, index) => {
  const frame = byId.get(id)?.callFrame
  const key = `${frame?.functionName || '(anonymous)'} ${frame?.url.split('/').at(-1)}:${frame?.lineNumber}:${frame?.columnNumber}`
  selfMs.set(key, (selfMs.get(key) ?? 0) + (profile.timeDeltas?.[index] ?? 0) / 1000)
})
const top = [...selfMs].sort((a, b) => b[1] - a[1]).slice(0, 25)
for (const [key, ms] of top) process.stdout.write(`${ms.toFixed(0).padStart(7)} ms  ${key}\n`)
