import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { signatureOf } from '../../src/outbound/webhook.ts'
import { steps } from '../doubles/assistant/assistant.ts'
import { createClient } from '../http/client.ts'
import { newBrowser } from '../notifications/push-service.ts'
import { AUTH_TOKEN, GUEST, NUMBER, OWNER, PUBLIC_URL } from '../phone/provider.ts'
import { testDirectory } from '../support/directory.ts'
import { PASSWORD } from '../support/service.ts'
import type { Trials } from './trial.ts'
import type { World } from './world.ts'

/** Makes the service call the provider's API, which shows the account in use. */
const check = ({ ok, client }: World) => ok(client.post('/api/config.test', { service: 'telephony' }))
const signedInAs = ({ double }: World) =>
  Buffer.from(double.authorizations.at(-1)?.split(' ')[1] ?? '', 'base64').toString()

const outcomeOf = (right: unknown) => (right === 'read' ? 'refused' : 'ok')
const rights = ['read', 'note']

export const rightsTrials = {
  PHONE_PIN: {
    values: ['480213', '7319'],
    async see({ noteByCall }, pin) {
      const right = await noteByCall({ pin: String(pin) })
      const wrong = await noteByCall({ pin: '5555' })
      return [right.entered, wrong.entered]
    },
    expected: () => ['call.pin.accepted', 'call.pin.refused'],
  },
  RIGHTS_TEXTS: {
    values: rights,
    async see({ model, sms, outcomeOf }) {
      const note = { name: 'create_note', arguments: { title: null, content: 'Ring back' } }
      model.reply({ toolCalls: [note] }, { text: 'Ok.' })
      const all = await outcomeOf((await sms()).messageSid, ['sms.sent'])
      return all.find(({ type }) => type === 'tool.returned')?.payload.outcome
    },
    expected: outcomeOf,
  },
  RIGHTS_CALLS: {
    values: rights,
    see: async ({ noteByCall }) => (await noteByCall({ verdict: 'TN-Validation-Passed-A' })).outcome,
    expected: outcomeOf,
  },
  RIGHTS_CALLS_UNATTESTED: {
    values: rights,
    see: async ({ noteByCall }) => (await noteByCall()).outcome,
    expected: outcomeOf,
  },
  RIGHTS_CALLS_PIN: {
    given: { PHONE_PIN: '480213', RIGHTS_CALLS_UNATTESTED: 'read' },
    values: [...rights, 'everything'],
    see: async ({ noteByCall }) => (await noteByCall({ pin: '480213' })).outcome,
    expected: outcomeOf,
  },
} as const satisfies Trials

export const telephonyTrials = {
  TELEPHONY_ACCOUNT_SID: {
    values: ['AC2', 'AC1'],
    async see(world) {
      await check(world)
      return world.double.requests.at(-1)?.path.split('/')[3]
    },
  },
  TELEPHONY_AUTH_TOKEN: {
    values: ['another-token-of-the-account', 'the-auth-token-of-the-account'],
    async see(world, token) {
      const before = await world.sms(GUEST)
      world.signAs({ token: String(token) })
      const after = await world.sms(GUEST)
      await check(world)
      return [before.status, after.status, signedInAs(world)]
    },
    expected: (token) => [403, 200, `AC1:${token}`],
  },
  TELEPHONY_PHONE_NUMBER: {
    values: ['+14155550122', NUMBER],
    async see({ sms, outcomeOf, double }) {
      await outcomeOf((await sms()).messageSid, ['sms.sent'])
      return double.messages.at(-1)?.from
    },
  },
  TELEPHONY_APP_SID: {
    values: ['AP1', 'AP2'],
    given: { TELEPHONY_PHONE_NUMBER: NUMBER, TELEPHONY_ACCOUNT_SID: 'AC1' },
    async see({ ok, client, double }, sid) {
      double.applications.splice(0, Infinity, { sid: 'AP1' }, { sid: 'AP2' })
      const number = {
        sid: 'PN1',
        phone_number: NUMBER,
        voice_application_sid: sid,
        sms_application_sid: sid,
      }
      double.numbers.splice(0, Infinity, number)
      await ok(client.post('/api/telephony/number/point'))
      // With an application other than its own, the number would be detached. Texts may be in progress too.
      const posts = double.requests.filter(
        ({ method, path }) => method === 'POST' && !path.includes('/Messages'),
      )
      return posts.at(-1)?.path.match(/(\w+)\.json$/)?.[1]
    },
  },
  TELEPHONY_API_BASE_URL: {
    values: ({ otherProvider, double }) => [otherProvider.url, double.url],
    async see(world) {
      // The current token was entered for the earlier address.
      const entries = { TELEPHONY_AUTH_TOKEN: AUTH_TOKEN }
      await world.ok(world.client.put('/api/config', { entries, password: PASSWORD }))
      const counts = () => [world.double, world.otherProvider].map(({ requests }) => requests.length)
      const before = counts()
      await check(world)
      const asked = counts().map((count, at) => count > (before[at] ?? 0))
      return [world.double, world.otherProvider].filter((_, at) => asked[at]).map(({ url }) => url)
    },
    expected: (url) => [url],
  },
  PHONE_CARRIAGE: {
    values: ['relay', 'auto'],
    see: ({ carriage }) => carriage(),
    expected: (value) => (value === 'relay' ? 'ConversationRelay' : 'Stream'),
  },
  GUEST_DAILY_MESSAGES: {
    values: [0, 10],
    async see({ sms, events }) {
      const { messageSid } = await sms(GUEST)
      return (await events()).some(({ payload }) => payload.messageSid === messageSid)
    },
    expected: (value) => value === 10,
  },
} as const satisfies Trials

/** These apply only without an auth token, which would sign in instead. */
export const apiKeyTrials = {
  TELEPHONY_API_KEY_SID: {
    values: ['SK1', 'SK2'],
    given: { TELEPHONY_API_KEY_SECRET: 'a-secret' },
    async see(world) {
      await check(world)
      return signedInAs(world)
    },
    expected: (sid) => `${sid}:a-secret`,
  },
  TELEPHONY_API_KEY_SECRET: {
    values: ['one-secret', 'another-secret'],
    given: { TELEPHONY_API_KEY_SID: 'SK9' },
    async see(world) {
      await check(world)
      return signedInAs(world)
    },
    expected: (secret) => `SK9:${secret}`,
  },
} as const satisfies Trials

export const ownerTrials = {
  OWNER_PHONE_NUMBER: {
    values: ['+14155550133', OWNER],
    async see({ sms, outcomeOf }, value) {
      const [own, others] = [await sms(String(value)), await sms(GUEST)]
      const parties = [own, others].map(async ({ messageSid }) => {
        const [received] = await outcomeOf(messageSid, ['sms.received'])
        return received.payload.party
      })
      return await Promise.all(parties)
    },
    expected: () => ['owner', 'guest'],
  },
  TIMEZONE: {
    values: ['Asia/Tokyo', 'America/Lima'],
    see: async ({ ok, client }) =>
      (await ok(client.post('/api/timers', { title: 'Breakfast', at: '2031-04-11T08:00' }))).dueAt,
    expected: (zone) => (zone === 'Asia/Tokyo' ? '2031-04-10T23:00:00.000Z' : '2031-04-11T13:00:00.000Z'),
  },
  LANGUAGE: {
    values: ['de', 'en'],
    see: async ({ client }) =>
      (await client.get('/login', { headers: { 'accept-language': 'fr' } })).headers['content-language'],
  },
  PUBLIC_URL: {
    values: ['https://another.example.com', PUBLIC_URL],
    async see({ ok, client, sms, signAs, outcomeOf, double }, url) {
      const before = await sms()
      signAs({ publicUrl: String(url) })
      const after = await sms()
      await outcomeOf(after.messageSid, ['sms.sent'])
      const { publicUrl } = await ok(client.get('/public-url'))
      return [before.status, after.status, publicUrl, double.messages.at(-1)?.status_callback]
    },
    expected: (url) => [403, 200, url, `${url}/sms/status`],
  },
  TRUSTED_PROXY: {
    values: ['10.0.0.0/8', '127.0.0.1'],
    async see({ service }, value) {
      const statuses: number[] = []
      for (let attempt = 0; attempt < 11; attempt += 1) {
        const headers = { 'x-forwarded-for': `203.0.113.${attempt}` }
        const { status } = await createClient(service.port).post('/login', { password: 'guess' }, { headers })
        statuses.push(status)
      }
      return [value, statuses.at(-1)]
    },
    // Eleven clients behind a trusted proxy, but one behind an untrusted one.
    expected: (value) => [value, value === '127.0.0.1' ? 401 : 429],
  },
} as const satisfies Trials

const hour = (offset: number) => new Date(Date.now() + offset * 3_600_000).toISOString().slice(11, 16)
const QUIET_NOW = `${hour(-1)}-${hour(2)}`
const QUIET_LATER = `${hour(3)}-${hour(4)}`

/** Sets a reminder that is due at once. Returns the seq of the fact that it fired. */
async function remind({ ok, client, events, until, nowMs }: World): Promise<number> {
  const at = new Date(nowMs()).toISOString()
  const { id } = await ok(client.post('/api/timers', { title: 'Tea', at }))
  const fired = async (): Promise<number | undefined> =>
    (await events()).find(({ type, payload }) => type === 'timer.fired' && payload.timerId === id)?.seq
  return (await until('the reminder', fired, (seq) => seq !== undefined)) ?? 0
}

/** The facts that the owner is notified of on a channel. */
async function notified({ events }: World, by: 'push' | 'sms'): Promise<number[]> {
  return (await events()).flatMap(({ type, payload }) =>
    type === 'delivery.requested' && payload.channel === by ? [payload.notification] : [],
  )
}

export const deliveryTrials = {
  QUIET_HOURS: {
    values: [QUIET_NOW, QUIET_LATER],
    async see(world) {
      const { ok, client, events, task, settled, until } = world
      await ok(client.post('/api/push/key'))
      const subscription = {
        endpoint: 'https://push.invalid/',
        keys: newBrowser().keys,
        kinds: ['reminder', 'task'],
      }
      await ok(client.put('/api/push', subscription))
      const { id } = await settled((await task()).id)
      const seq = await remind(world)
      const pushed = await until(
        'the push',
        () => notified(world, 'push'),
        (seqs) => seqs.includes(seq),
      )
      const ended = (await events()).find(
        ({ type, payload }) => type === 'task.finished' && payload.taskId === id,
      )
      return pushed.includes(ended?.seq)
    },
    expected: (value) => value === QUIET_LATER,
  },
  DELIVERY_CHANNEL: {
    values: ['sms', 'chat'],
    async see({ task, settled }) {
      const { deliveries } = await settled((await task()).id)
      return deliveries[0].channel
    },
  },
  DELIVERY_WEBHOOK_URL: {
    values: ({ receiver }) => [`${receiver.url}/one`, `${receiver.url}/two`],
    given: { DELIVERY_WEBHOOK_SECRET: 'a secret of the webhook' },
    async see({ task, settled, receiver }) {
      await settled((await task({ notify: 'webhook' })).id)
      return `${receiver.url}${receiver.posts.at(-1)?.path}`
    },
  },
  DELIVERY_WEBHOOK_SECRET: {
    values: ['a first secret of the webhook', 'a second secret of the webhook'],
    async see({ task, settled, receiver, put }, secret) {
      await put({ DELIVERY_WEBHOOK_URL: `${receiver.url}/signed` })
      await settled((await task({ notify: 'webhook' })).id)
      const post = receiver.posts.at(-1)
      const [id, at] = ['webhook-id', 'webhook-timestamp'].map((name) => String(post?.headers[name]))
      const signature = signatureOf(String(secret), id ?? '', at ?? '', post?.body ?? '')
      return post?.headers['webhook-signature'] === signature
    },
    expected: () => true,
  },
  COPILOT_WORKDIR: {
    values: () => [testDirectory(), testDirectory()],
    async see({ task, settled, directory }) {
      const situation = join(directory, 'situation.json')
      await settled((await task({ prompt: steps({ tellSituation: situation }) })).id)
      return JSON.parse(readFileSync(situation, 'utf8')).cwd
    },
  },
  TASK_LIMIT: {
    values: [1, 2],
    async see({ task, ok, client, until }, limit) {
      const ids: string[] = []
      for (let n = 0; n < 3; n += 1) ids.push((await task({ prompt: steps({ hang: true }) })).id)
      const running = async () => {
        const tasks = await Promise.all(ids.map((id) => ok(client.get(`/api/tasks/${id}`))))
        return tasks.filter(({ status }) => status === 'running').length
      }
      await until('tasks to run', running, (count) => count >= Number(limit))
      const count = await running()
      for (const id of ids.toReversed()) await ok(client.post(`/api/tasks/${id}/cancel`))
      return count
    },
  },
  TASK_TIMEOUT_MINUTES: {
    values: [7, 8],
    see: async ({ task }) => (await task()).timeoutMinutes,
  },
  /** The last one, because a proof of the owner does not outlast the minutes. */
  REMINDER_TEXT_MINUTES: {
    values: [0, 5],
    async see(world, value) {
      const seq = await remind(world)
      world.passMinutes(6)
      // Wakes what waits for the time.
      await remind(world)
      const isTexted = async () => (await notified(world, 'sms')).includes(seq)
      return value === 0 ? await isTexted() : await world.until('the text', isTexted, Boolean)
    },
    expected: (value) => value === 5,
  },
} as const satisfies Trials
