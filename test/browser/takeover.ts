import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { isMemoryRequest, startModelDouble } from '../doubles/model/model-double.ts'
import { createClient } from '../http/client.ts'
import { startDatabase } from '../support/database.ts'
import { testDirectory } from '../support/directory.ts'
import { freePort } from '../support/postgres.ts'
import { DOUBLE_PRICES } from '../support/prices.ts'
import { startProxy } from '../support/proxies.ts'
import { startReadyProxy } from '../support/ready-proxy.ts'
import { PASSWORD } from '../support/service.ts'
import { postgresEnvironment, shareLedger } from '../support/shared-ledger.ts'
import { startServiceProcess } from '../torture/service-process.ts'
import { reply, say, visit, words } from './page.ts'

type Node = { readonly name: string; readonly directory: string; readonly port: number }

const KEY = 'sk-test-key-of-the-double'
/** What an unattended takeover may cost. */
const LIMIT_MS = 12_000

/**
 * Kills the machine that a browser talks to behind a proxy, while one of its messages is being answered. Expects
 * that another machine answers in time, that the page goes on by itself, and that everything is there once.
 * Resolves to the milliseconds from the kill until the other machine was ready.
 */
export async function takeOver(
  browser: Browser,
  options: { readonly leaseSeconds: number; readonly proxy: 'caddy' | 'own' },
): Promise<number> {
  const database = await startDatabase()
  const model = await startModelDouble({ validate: false, apiKey: KEY })
  onTestFinished(() => model.close())
  const turnRequests = () => model.requests('/responses').filter((request) => !isMemoryRequest(request))
  const [one, two] = await Promise.all(['one', 'two'].map(newNode))
  if (!one || !two) throw new Error('two nodes are needed')
  await shareLedger(database, one.directory, 'commit')
  const start = (node: Node) => {
    const service = startServiceProcess(node.directory, {
      PORT: String(node.port),
      TRUSTED_PROXY: '127.0.0.1',
      PRICES: DOUBLE_PRICES,
      ...postgresEnvironment(database, 'commit', node.name, options.leaseSeconds),
    })
    onTestFinished(service.kill)
    return service
  }
  const holder = start(one)
  await holder.listening
  const direct = createClient(one.port)
  await direct.post('/api/install', { password: PASSWORD, setupCode: holder.setupCode() })
  const entries = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: KEY, CHAT_MODEL: 'test-model' }
  expect((await direct.put('/api/config', { entries })).status).toBe(200)
  // The model's key travels sealed; what opens it does not.
  copyFileSync(join(one.directory, 'secret.key'), join(two.directory, 'secret.key'))
  start(two)
  await expect.poll(() => stateOf(two)).toBe('standby')

  const ports = [one.port, two.port]
  const proxied =
    options.proxy === 'caddy' ? await startProxy('Caddyfile.two-nodes', ports) : await startReadyProxy(ports)
  const client = createClient(proxied)
  client.useCookie(direct.cookie())
  const place = { origin: `http://127.0.0.1:${proxied}`, client, setupCode: null }
  const page = await visit(browser, place, { expected: /WebSocket|ERR_|50[23]/ })
  model.reply({ text: 'It is on the first machine.' })
  await say(page, 'Where is this?')
  await reply(page, 'It is on the first machine.').waitFor()

  const never = new Promise<never>(() => undefined)
  model.reply({ text: 'This is lost with its machine.', pause: { at: 3, until: never } })
  await say(page, 'And what do you say now?')
  await page.getByRole('button', { name: 'Stop the reply' }).waitFor()
  await expect.poll(() => turnRequests().length).toBe(2)
  model.reply({ text: 'I say it on the second machine.' }, { text: 'It goes on.' })
  await holder.kill()
  const killedAtMs = performance.now()
  await say(page, 'Does it go on?')
  await expect.poll(() => stateOf(two), { timeout: LIMIT_MS, interval: 20 }).toBe('ready')
  const tookMs = performance.now() - killedAtMs

  const expectOnce = async () => {
    for (const text of ['It is on the first machine.', 'I say it on the second machine.', 'It goes on.'])
      await reply(page, text).waitFor()
    for (const text of ['Where is this?', 'And what do you say now?', 'Does it go on?'])
      expect([text, await words(page, 'You', text).count()]).toEqual([text, 1])
    expect(await reply(page, /./).count()).toBe(3)
  }
  await expectOnce()
  await page.reload()
  await expectOnce()
  const { events } = (await client.get('/api/timeline')).json
  const typesOf = (type: string) => events.filter((event: { type: string }) => event.type === type)
  expect(typesOf('chat.message.received')).toHaveLength(3)
  expect(typesOf('chat.reply.sent')).toHaveLength(3)
  expect(turnRequests()).toHaveLength(4)

  start(one)
  await expect.poll(() => stateOf(one)).toBe('standby')
  return tookMs
}

async function newNode(name: string): Promise<Node> {
  return { name, directory: testDirectory(), port: await freePort() }
}

/** What `/ready` says; null while nothing answers. */
async function stateOf({ port }: Node): Promise<string | null> {
  const answer = await createClient(port)
    .get('/ready')
    .catch(() => null)
  return answer && (answer.status === 200 ? 'ready' : answer.json.code)
}
