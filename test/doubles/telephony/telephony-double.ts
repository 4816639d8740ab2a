import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { loadTelephonySpec } from './twilio-spec.ts'

/** How the double fails the next message. */
export type Fault =
  | {
      readonly type: 'refuse'
      readonly status: number
      readonly code: number
      /** Seconds. */
      readonly retryAfter?: number
    }
  /** A gateway fails instead of the provider: the response has no provider code. */
  | { readonly type: 'refuse_without_code'; readonly status: number }
  /** Takes the message, and a gateway fails. */
  | { readonly type: 'accept_then_fail' }
  /** Takes the message, then breaks the connection before the answer. */
  | { readonly type: 'accept_then_cut' }
  /** Takes the message and never answers. */
  | { readonly type: 'accept_then_hang' }
  /** Takes the message, and answers later. */
  | { readonly type: 'accept_then_wait'; readonly until: Promise<unknown> }
  /** Breaks the connection without taking the message. */
  | { readonly type: 'cut' }

export type Message = {
  readonly sid: string
  readonly from: string
  readonly to: string
  readonly body: string
  readonly status_callback: string | null
  readonly date_created: string
}

export type Resource = Record<string, unknown> & { readonly sid: string }

/** What a trial account puts before each text, also in its API. */
export const TRIAL_PREFIX = 'Sent from your Twilio trial account - '

const spec = loadTelephonySpec()

/** A Messaging Service, with the numbers in its sender pool. */
export type MessagingService = Resource & { readonly phone_numbers: readonly string[] }

/**
 * The provider's REST API on loopback: messages, calls, applications, numbers and Messaging Services of one
 * account. Requests are checked against the official description, if present. It lacks the messaging API,
 * which follows the types of the SDK instead: `twilio/lib/rest/messaging/v1/service.d.ts`.
 */
export async function startTelephonyDouble(options: {
  readonly accountSid: string
  readonly authToken: string
  /** A trial account, which puts words of its own before each text. */
  readonly isTrial?: boolean
  /** The status that answers every request for Messaging Services, for a key that may not read them. */
  readonly servicesRefused?: number | undefined
}) {
  const { accountSid, isTrial = false } = options
  const root = `/2010-04-01/Accounts/${accountSid}`
  const messages: Message[] = []
  const requests: { method: string; path: string; fields: Record<string, string> }[] = []
  const authorizations: string[] = []
  const problems: string[] = []
  const faults: Fault[] = []
  /** The answer to every request while the provider is down. */
  let outage: Fault | null = null
  const applications: Resource[] = []
  const numbers: Resource[] = []
  const services: MessagingService[] = []
  let made = 0

  const server = createServer((incoming, answer) => {
    handle(incoming, answer).catch((error: unknown) => {
      problems.push(String(error))
      answer.destroy()
    })
  })

  async function handle(incoming: IncomingMessage, answer: ServerResponse): Promise<undefined> {
    const url = new URL(incoming.url ?? '/', 'http://double')
    const method = incoming.method ?? ''
    const fields = method === 'GET' ? url.searchParams : new URLSearchParams(await text(incoming))
    authorizations.push(incoming.headers.authorization ?? '')
    requests.push({ method, path: url.pathname, fields: Object.fromEntries(fields) })
    const isDescribed = !url.pathname.startsWith('/v1/')
    if (isDescribed) problems.push(...(spec?.check(method, url.pathname, fields) ?? []))
    const expected = Buffer.from(`${accountSid}:${options.authToken}`).toString('base64')
    if (incoming.headers.authorization !== `Basic ${expected}`) return refuse(answer, 401, 20003)
    const path = url.pathname.slice(root.length)
    if (outage !== null && method === 'GET') return refuse(answer, 503, 20503)
    if (path === '/Messages.json')
      return method === 'POST' ? takeMessage(fields, answer) : listMessages(fields, answer)
    if (url.pathname === `${root}.json`)
      return send(answer, 200, { sid: accountSid, status: 'active', friendly_name: 'Double' })
    if (path.startsWith('/Calls/')) return send(answer, 200, { sid: path.slice(7, -5), status: 'completed' })
    if (path.startsWith('/Applications'))
      return resource('Applications', applications, method, path, fields, answer)
    if (path.startsWith('/IncomingPhoneNumbers'))
      return resource('IncomingPhoneNumbers', numbers, method, path, fields, answer)
    if (url.pathname.startsWith('/v1/Services')) return listServices(url.pathname, answer)
    return refuse(answer, 404, 20404)
  }

  function listServices(path: string, answer: ServerResponse): undefined {
    if (options.servicesRefused !== undefined) return refuse(answer, options.servicesRefused, 20403)
    if (path === '/v1/Services') return send(answer, 200, { services, meta: { key: 'services' } })
    const found = services.find(({ sid }) => path === `/v1/Services/${sid}/PhoneNumbers`)
    if (!found) return refuse(answer, 404, 20404)
    const senders = found.phone_numbers.map((phone_number) => ({ phone_number, service_sid: found.sid }))
    send(answer, 200, { phone_numbers: senders, meta: { key: 'phone_numbers' } })
  }

  async function takeMessage(fields: URLSearchParams, answer: ServerResponse): Promise<undefined> {
    // https://www.twilio.com/docs/api/errors/21609
    if (fields.get('StatusCallback')?.startsWith('http://localhost')) return refuse(answer, 400, 21609)
    const fault = faults.shift() ?? outage
    if (fault?.type === 'refuse') return refuse(answer, fault.status, fault.code, fault.retryAfter)
    if (fault?.type === 'refuse_without_code') return failGateway(answer, fault.status)
    if (fault?.type === 'cut') {
      answer.socket?.destroy()
      return
    }
    const message = take({
      from: fields.get('From') ?? '',
      to: fields.get('To') ?? '',
      body: `${isTrial ? TRIAL_PREFIX : ''}${fields.get('Body') ?? ''}`,
      status_callback: fields.get('StatusCallback'),
    })
    if (fault?.type === 'accept_then_hang') return
    if (fault?.type === 'accept_then_fail') return failGateway(answer, 502)
    if (fault?.type === 'accept_then_wait') await fault.until
    if (fault?.type === 'accept_then_cut') answer.socket?.destroy()
    else send(answer, 201, { ...message, status: 'queued', account_sid: accountSid })
  }
  function take(message: Pick<Message, 'from' | 'to' | 'body'> & Partial<Message>): Message {
    made += 1
    const taken = {
      sid: `SM${String(made).padStart(32, '0')}`,
      status_callback: null,
      date_created: new Date().toUTCString(),
      ...message,
    }
    messages.push(taken)
    return taken
  }
  function listMessages(fields: URLSearchParams, answer: ServerResponse): undefined {
    const found = messages.filter(({ to, from }) => to === fields.get('To') && from === fields.get('From'))
    send(answer, 200, page('messages', found.toReversed()))
  }
  function resource(
    name: string,
    all: Resource[],
    method: string,
    path: string,
    fields: URLSearchParams,
    answer: ServerResponse,
  ): undefined {
    const sid = path.match(/\/(\w+)\.json$/)?.[1]
    const key = name === 'Applications' ? 'applications' : 'incoming_phone_numbers'
    const changes = Object.fromEntries([...fields].map(([field, value]) => [snake(field), value]))
    if (path === `/${name}.json`) {
      if (method === 'GET') {
        const number = fields.get('PhoneNumber')
        return send(
          answer,
          200,
          page(
            key,
            all.filter((each) => number === null || each.phone_number === number),
          ),
        )
      }
      made += 1
      const created = { sid: `AP${String(made).padStart(32, '0')}`, ...changes }
      all.push(created)
      return send(answer, 201, created)
    }
    const index = all.findIndex((each) => each.sid === sid)
    const found = all[index]
    if (!found) return refuse(answer, 404, 20404)
    if (method === 'POST') all[index] = { ...found, ...changes }
    send(answer, 200, all[index])
  }
  function page(key: string, items: readonly unknown[]) {
    return { [key]: items, page: 0, page_size: 50, next_page_uri: null, first_page_uri: '', uri: '' }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The messages that reached a phone. */
    messages: messages as readonly Message[],
    requests: requests as readonly (typeof requests)[number][],
    authorizations: authorizations as readonly string[],
    problems: problems as readonly string[],
    applications,
    numbers,
    services,
    /** Adds a message that an earlier process handed over. */
    take,
    /** Sets the faults of the next messages, in order. */
    fail: (...next: readonly Fault[]) => void faults.push(...next),
    /** Fails every request with this fault until it is set to null. */
    setOutage: (fault: Fault | null) => {
      outage = fault
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function failGateway(answer: ServerResponse, status: number): undefined {
  answer.writeHead(status, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>')
}

function refuse(answer: ServerResponse, status: number, code: number, retryAfter?: number): undefined {
  if (retryAfter !== undefined) answer.setHeader('retry-after', retryAfter)
  send(answer, status, { status, code, message: 'scripted', more_info: '' })
}

function send(answer: ServerResponse, status: number, body: unknown): undefined {
  answer.writeHead(status, { 'content-type': 'application/json' })
  answer.end(JSON.stringify(body))
}

function snake(name: string): string {
  return name.replace(/(?<!^)([A-Z])/g, '_$1').toLowerCase()
}
