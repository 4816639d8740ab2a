import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import webhooks from 'twilio/lib/webhooks/webhooks.js'
import { onTestFinished } from 'vitest'
import type { AnySettingValue, SettingKey } from '../../src/settings/registry.ts'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { startTelephonyDouble } from '../doubles/telephony/telephony-double.ts'
import { script, speech } from '../phone/call/call-harness.ts'
import { AUTH_TOKEN, OWNER, PUBLIC_URL, tokenOf } from '../phone/provider.ts'
import { incoming, startWithTexts } from '../sms/sms-harness.ts'
import { testDirectory } from '../support/directory.ts'
import { ASSISTANT } from '../tasks/task-harness.ts'

const WAIT_MS = 60_000
const NOTE = { title: 'Call', content: 'Ring back' }

/** A whole service, with doubles of everything that it talks to. */
export async function startWorld(environment: Readonly<Record<string, string>> = {}) {
  let aheadMs = 0
  let calls = 0
  const directory = testDirectory()
  const phone = await startWithTexts({
    // In a call, the model takes a note whenever the caller speaks.
    script: script({
      reply({ asked }) {
        calls += 1
        const toolCalls = [{ callId: `call_${calls}`, name: 'create_note', arguments: JSON.stringify(NOTE) }]
        return asked === 'caller' ? { toolCalls } : { audio: speech('caller-thanks'), transcript: 'Hello.' }
      },
    }),
    environment: {
      COPILOT_COMMAND: ASSISTANT,
      DEV_ROUTES: '1',
      SPEECH_MODEL: 'test-speech',
      BACKUP_DIRECTORY: directory,
      ...environment,
    },
    nowMs: () => Date.now() + aheadMs,
    waits: { idleLookMs: 50, openPageMs: 0 },
  })
  const { client } = phone.service
  const [models, provider, receiver] = [await otherModels(), await otherProvider(), await startReceiver()]
  let number = 0
  let signed = { token: AUTH_TOKEN, publicUrl: PUBLIC_URL }

  /** Polls until the condition holds. Throws with the last value seen. */
  async function until<T>(what: string, read: () => T | Promise<T>, isSo: (value: T) => boolean): Promise<T> {
    for (const deadline = performance.now() + WAIT_MS; ; ) {
      const value = await read()
      if (isSo(value)) return value
      if (performance.now() > deadline)
        throw new Error(`timed out waiting for ${what}: ${JSON.stringify(value)}`)
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
  }

  const ok = async (answer: ReturnType<typeof client.get>) => {
    const { status, text, json } = await answer
    if (status >= 300) throw new Error(`${status} ${text}`)
    return json
  }

  const { text: model, ...rest } = phone
  return {
    ...rest,
    /** The text model. */
    model,
    client,
    otherModels: models,
    otherProvider: provider,
    receiver,
    directory,
    until,
    ok,
    put: (entries: Partial<Record<SettingKey, AnySettingValue>>) =>
      ok(client.put('/api/config', { entries })),
    say: (content: string) => ok(client.post('/api/chat', { content })),
    nowMs: () => Date.now() + aheadMs,
    passMinutes(minutes: number) {
      aheadMs += minutes * 60_000
    },
    /** Sets how the provider signs its requests. */
    signAs(next: Partial<typeof signed>) {
      signed = { ...signed, ...next }
    },
    /** Sends a text as the provider would. Returns the response status and the message id. */
    async sms(from = OWNER, words = 'Hello') {
      number += 1
      const fields = incoming(`SM${number}`, from, words)
      const { status } = await client.send('POST', '/sms', new URLSearchParams(fields).toString(), {
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'x-twilio-signature': webhooks.getExpectedTwilioSignature(
            signed.token,
            `${signed.publicUrl}/sms`,
            fields,
          ),
        },
      })
      return { status, messageSid: fields.MessageSid }
    },
    /** The events of one text, once one of these types is among them. */
    async outcomeOf(messageSid: string, types: readonly string[]) {
      const events = await until('the outcome of a text', phone.events, (all) => {
        const received = all.find(({ payload }) => payload.messageSid === messageSid)
        return all.some(({ type, seq }) => types.includes(type) && seq >= (received?.seq ?? Infinity))
      })
      return events.filter(({ seq }) => seq >= events.find((e) => e.payload.messageSid === messageSid).seq)
    },
    /** Calls as the owner, hangs up once the model has its instructions, and returns them. */
    async ring() {
      number += 1
      const updates = () => phone.realtime.received.filter(({ type }) => type === 'session.update')
      const before = updates().length
      const { caller } = await phone.dial(`CA${number}`, OWNER)
      await until('the session', updates, (all) => all.length > before)
      caller.drop()
      await until('the end of the call', phone.events, (all) =>
        all.some(({ type, payload }) => type === 'call.ended' && payload.callSid === `CA${number}`),
      )
      return { session: updates().at(-1)?.session, path: phone.upgrades.at(-1) ?? '' }
    },
    /** How the markup of a call carries it. The caller hangs up at once. */
    async carriage() {
      number += 1
      const { text } = await phone.provider.ring(`CA${number}`, OWNER)
      await phone.provider.post('/voice-status', { CallSid: `CA${number}`, CallStatus: 'completed' })
      return text.match(/<Connect[^>]*><(\w+)/)?.[1]
    },
    /** Calls as the owner, enters a PIN if there is one, and asks for a note. Returns what came of both. */
    async noteByCall({ verdict = '', pin = '' } = {}) {
      number += 1
      const fields = { ...phone.provider.call(`CA${number}`, OWNER), StirVerstat: verdict }
      const markup = await phone.provider.post('/voice-markup', fields)
      const caller = await phone.stream(`CA${number}`, tokenOf(markup.text))
      const { seq } = (await phone.events()).at(-1)
      const next = async (type: string) => {
        const find = (all: Awaited<ReturnType<typeof phone.events>>) =>
          all.find((event) => event.type.startsWith(type) && event.seq > seq)
        return find(await until(type, phone.events, (all) => find(all) !== undefined))
      }
      await next('call.reply.spoken')
      caller.press(pin === '' ? '' : `${pin}#`)
      const entered = pin === '' ? null : (await next('call.pin')).type
      await caller.wait(2_500)
      await caller.say(speech('caller-question'))
      const { outcome } = (await next('tool.returned')).payload
      caller.hangUp()
      await next('call.ended')
      return { entered, outcome }
    },
    task: (more: object = {}) =>
      ok(client.post('/api/tasks', { title: 'Tidy up', prompt: '[{"print":"done"}]', ...more })),
    settled: (id: string) =>
      until(
        'the end of a task',
        () => ok(client.get(`/api/tasks/${id}`)),
        ({ status, deliveryState }) =>
          ['finished', 'failed', 'cancelled'].includes(status) && deliveryState !== 'pending',
      ),
  }
}

export type World = Awaited<ReturnType<typeof startWorld>>

async function otherModels() {
  const double = await startModelDouble({ validate: false })
  onTestFinished(() => double.close())
  double.answerWith(() => ({ text: 'From elsewhere.' }))
  return double
}

async function otherProvider() {
  const double = await startTelephonyDouble({ accountSid: 'AC1', authToken: AUTH_TOKEN })
  onTestFinished(() => double.close())
  return double
}

type Post = { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string }

/** The owner's webhook, which accepts everything. */
async function startReceiver() {
  const posts: Post[] = []
  const server = createServer((request, answer) => {
    textOf(request)
      .then((body) => {
        posts.push({ path: request.url ?? '', headers: request.headers, body })
        answer.writeHead(204).end()
      })
      .catch(() => answer.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { posts, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}
