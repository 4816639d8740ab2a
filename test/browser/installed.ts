import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Browser, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import type { WholeService } from '../support/service.ts'
import { visit } from './page.ts'

/** Requests fail while the device is offline, which browsers log. */
const offlineErrors = /ERR_INTERNET_DISCONNECTED|ERR_FAILED|WebSocket connection/

/** Opens a page with its service worker. */
export async function visitApp(
  browser: Browser,
  service: WholeService,
  { path = '/', expected = offlineErrors } = {},
): Promise<Page> {
  const page = await visit(browser, service, { path, worker: true, expected })
  await page.evaluate(() => navigator.serviceWorker.ready)
  return page
}

/** Turns the offline copy on, and waits until it has the page's words. */
export async function keepCopy(page: Page): Promise<void> {
  await page.goto('/settings#notifications')
  const reported = page.waitForResponse('**/api/offline-copy')
  await page.getByRole('switch', { name: 'Offline copy' }).check()
  await reported
}

/** Whether the browser has an offline copy. */
export const hasCopy = (page: Page): Promise<boolean> => page.evaluate(() => caches.has('delegate-copy'))

/**
 * Stands in front of the service, without its sockets. A new build has another service worker. With a status, it
 * answers for the service.
 */
export async function startProxy(service: WholeService) {
  const proxy = { isNewBuild: false, status: null as number | null, origin: '' }
  const server = createServer(async (request, outgoing) => {
    if (proxy.status !== null) {
      outgoing.writeHead(proxy.status, { 'content-type': 'text/html' })
      outgoing.end(`<h1>The proxy answers ${proxy.status}.</h1>`)
      return
    }
    const { url = '', method = 'GET', headers } = request
    const { cookie = '', 'content-type': type = '' } = headers
    const answer = await fetch(`${service.origin}${url}`, {
      method,
      headers: { cookie, 'content-type': type },
      body: method === 'GET' ? null : await text(request),
    }).catch(() => null)
    // The page may still ask when the test has ended.
    if (answer === null) {
      outgoing.destroy()
      return
    }
    const body = Buffer.from(await answer.arrayBuffer())
    const kept = ['content-type', 'vary'].map((name) => [name, answer.headers.get(name) ?? ''] as const)
    outgoing.writeHead(answer.status, Object.fromEntries(kept))
    outgoing.end(proxy.isNewBuild && url === '/worker.js' ? `${body}\n//` : body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => server.closeAllConnections())
  onTestFinished(() => void server.close())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return Object.assign(proxy, { origin: `http://127.0.0.1:${address.port}` })
}
