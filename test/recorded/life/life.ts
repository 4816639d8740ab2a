import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Reply } from '../../doubles/model/script.ts'
import type { Script, ScriptedReply } from '../../doubles/realtime/session.ts'
import { startTelephonyDouble } from '../../doubles/telephony/telephony-double.ts'
import { openMediaStream } from '../../doubles/telephony-stream/media-stream-client.ts'
import type { Answer } from '../../http/client.ts'
import { startPhoneDoubles } from '../../phone/phone-doubles.ts'
import { ACCOUNT, AUTH_TOKEN, createProvider, NUMBER, tokenOf } from '../../phone/provider.ts'
import { createRandom } from '../../support/random.ts'
import { startOver } from '../start.ts'
import { type Clock, createClock } from './clock.ts'
import { directModel, type LifeModel } from './model.ts'

const ASSISTANT = JSON.stringify([
  process.execPath,
  fileURLToPath(new URL('../../doubles/assistant/assistant.ts', import.meta.url)),
])
const POLL_MS = 25
/** How far the clock moves at each poll. */
const PASS_MS = 100
const GIVE_UP_MS = 60_000
/** A day is over when nothing happens for this long. */
const QUIET_MS = 400

// biome-ignore lint/suspicious/noExplicitAny: the script reads events of every shape.
export type Event = any

/** One start of the service, with everything that the script does during it. */
export type Day = Awaited<ReturnType<Life['begin']>>
export type Life = Awaited<ReturnType<typeof openLife>>

/** The doubles of every outside service, and a directory over which the service starts repeatedly. */
export async function openLife(directory: string, startAt: string) {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const clock: Clock = createClock(startAt)
  const random = createRandom(20_261_102).next
  const calls: { replies: ScriptedReply[]; words: (string | null)[] } = { replies: [], words: [] }
  const script: Script = {
    reply: () => calls.replies.shift() ?? {},
    words: () => calls.words.shift() ?? null,
    counters: { replies: 0, utterances: 0 },
  }
  const doubles = await startPhoneDoubles(script)
  const telephony = await startTelephonyDouble({ accountSid: ACCOUNT, authToken: AUTH_TOKEN })
  const webhook = await startWebhook()
  const model: LifeModel = directModel(doubles.text)
  const environment: Readonly<Record<string, string>> = {
    ...doubles.environment,
    COPILOT_COMMAND: ASSISTANT,
    TELEPHONY_API_BASE_URL: telephony.url,
    DELIVERY_WEBHOOK_URL: webhook.url,
    DELIVERY_WEBHOOK_SECRET: 'a secret of the webhook',
  }
  let cookie: string | undefined

  /** `whole` replaces the environment that points at the doubles. */
  async function begin(at: string, more: Readonly<Record<string, string>> = {}, whole = environment) {
    clock.goTo(at)
    const service = await startOver({
      directory,
      environment: { ...whole, ...more },
      nowMs: clock.nowMs,
      random,
    })
    const { client } = service
    client.useCookie(cookie)
    const provider = createProvider(service.port)

    async function events(): Promise<Event[]> {
      return (await client.get('/api/timeline?limit=5000')).json.events ?? []
    }

    async function until<T>(what: string, find: () => Promise<T | null | undefined | false>): Promise<T> {
      for (const untilMs = performance.now() + GIVE_UP_MS; performance.now() < untilMs; ) {
        const found = await find()
        if (found) return found
        await new Promise((resolve) => setTimeout(resolve, POLL_MS))
        clock.pass(PASS_MS)
      }
      const types = (await events()).slice(-30).map(({ seq, type }) => `${seq} ${type}`)
      throw new Error(`timed out waiting for: ${what}; last events: ${types.join(', ')}`)
    }

    /** The newest matching event of a type after `afterSeq`, once it exists. */
    function seen(type: string, afterSeq = 0, fits: (event: Event) => boolean = () => true): Promise<Event> {
      return until(type, async () =>
        (await events()).findLast((event) => event.type === type && event.seq > afterSeq && fits(event)),
      )
    }

    const head = async () => (await events()).at(-1)?.seq ?? 0

    async function send(
      method: 'POST' | 'PUT' | 'DELETE',
      path: string,
      content?: unknown,
      expected: readonly number[] = [200, 201, 204],
    ): Promise<Answer> {
      clock.pass(20_000)
      const answer = await client.send(method, path, content)
      if (!expected.includes(answer.status))
        throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
      return answer
    }

    /** Waits until everything is learned and nothing more happens. */
    async function quiet(): Promise<void> {
      let lastSeq = -1
      let sinceMs = performance.now()
      await until('nothing more to happen', async () => {
        const { runtime } = (await client.get('/api/memories/insights')).json
        const seq = await head()
        if (seq !== lastSeq || runtime.extraction.unread > 0) sinceMs = performance.now()
        lastSeq = seq
        return performance.now() - sinceMs > QUIET_MS
      })
    }

    return {
      client,
      provider,
      port: service.port,
      setupCode: service.setupCode,
      clock,
      events,
      until,
      seen,
      head,
      quiet,
      send,
      post: (path: string, content: unknown = {}, expected?: readonly number[]) =>
        send('POST', path, content, expected),
      /** Sends a chat message; `replies` are the model's next answers. */
      async say(content: string, ...replies: readonly Reply[]): Promise<Answer> {
        model.turns.push(...replies)
        return send('POST', '/api/chat', { content }, [200, 429, 502])
      },
      async text(messageSid: string, from: string, body: string, ...replies: readonly Reply[]) {
        clock.pass(20_000)
        model.turns.push(...replies)
        const fields = { MessageSid: messageSid, AccountSid: ACCOUNT, From: from, To: NUMBER, Body: body }
        return provider.post('/sms', { ...fields, NumMedia: '0' })
      },
      /** Rings, then connects the stream that the markup names. */
      async dial(callSid: string, from: string) {
        clock.pass(20_000)
        const markup = (await provider.ring(callSid, from)).text
        return openMediaStream({
          url: `ws://127.0.0.1:${service.port}/call`,
          callSid,
          accountSid: ACCOUNT,
          token: tokenOf(markup),
          factor: 5,
        })
      },
      async end(): Promise<void> {
        await quiet()
        cookie = client.cookie()
        await service.stop()
      },
      /** Stops without waiting for work in progress. */
      async stop(): Promise<void> {
        cookie = client.cookie()
        await service.stop()
      },
    }
  }

  return {
    directory,
    clock,
    model,
    calls,
    telephony,
    webhook,
    realtime: doubles.realtime,
    text: doubles.text,
    begin,
    cookie: () => cookie,
    async close() {
      await doubles.close()
      await telephony.close()
      await webhook.close()
    },
  }
}

/** The owner's webhook: answers with the queued statuses, then accepts everything. */
async function startWebhook() {
  const statuses: number[] = []
  const server = createServer((incoming, answer) => {
    incoming.resume().on('end', () => answer.writeHead(statuses.shift() ?? 204).end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/told`,
    /** Queues statuses for the next posts. */
    answer: (...next: readonly number[]) => void statuses.push(...next),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
