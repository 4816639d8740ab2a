import { z } from '@hono/zod-openapi'
import { english } from '../../language/message.ts'
import { inLanguage, translated } from '../../language/msg.ts'
import type { Explanation, Offer } from '../../phone/lifecycle/reception.ts'
import {
  busyMarkup,
  connectMarkup,
  hangUpMarkup,
  lostMarkup,
  relayMarkup,
  sayMarkup,
} from '../../phone/line/markup.ts'
import { CUT_SHORT } from '../../phone/relay/relay-messages.ts'
import { form, refusals, tagged } from '../contract/describe.ts'
import type { RouteDeps } from '../features.ts'
import type { HttpContext, Routes } from '../server/env.ts'
import { markup, type ProviderRequest, unverified } from './provider-webhook.ts'

const telephony = tagged('Telephony')

const MAX_ID_CHARS = 100
const MAX_ERROR_CHARS = 200

const SENTENCES: Readonly<Record<Explanation, string>> = {
  no_public_url: english`This assistant cannot take calls yet: its public address is not set. Please set it in the settings. Goodbye.`,
  halted: english`This assistant is halted. It takes no calls until its owner releases it in the browser. Goodbye.`,
  budget: english`I cannot take any more calls today. Please try again tomorrow. Goodbye.`,
}

const CANNOT_TALK = english`This assistant cannot talk on the phone yet: it has no model that hears and speaks. Please set one in the settings. Goodbye.`

/** Provider statuses after which a call is over. */
const OVER = new Set(['completed', 'busy', 'failed', 'no-answer', 'canceled'])

const describe = (method: 'get' | 'post') =>
  telephony[method]('/voice-markup', {
    summary: 'Answer a call: open a media stream, explain why not, or reject it as busy',
    description: 'Called by the telephony provider, which signs its requests.',
    security: [],
    ...(method === 'post' && { request: { body: form('CallSid', 'AccountSid', 'From', 'StirVerstat') } }),
    responses: {
      200: { description: 'Markup', content: { 'text/xml': { schema: z.string() } } },
      ...refusals(403),
    },
  })

const status = telephony.post('/voice-status', {
  summary: 'Receive the status of a call or its media stream',
  description: 'Called by the telephony provider, which signs its requests.',
  security: [],
  request: { body: form('CallSid', 'CallStatus', 'StreamEvent', 'StreamError') },
  responses: { 204: { description: 'Recorded' }, ...refusals(403) },
})

const relayEnded = telephony.post('/relay-ended', {
  summary: 'Answer the end of a relay: connect a call that broke again, or end it',
  description: 'Called by the telephony provider, which signs its requests.',
  security: [],
  request: {
    body: form('CallSid', 'CallStatus', 'From', 'SessionId', 'SessionStatus', 'ErrorCode', 'HandoffData'),
  },
  responses: {
    200: { description: 'Markup', content: { 'text/xml': { schema: z.string() } } },
    ...refusals(403),
  },
})

const relay = telephony.get('/relay', {
  summary: 'Open the relay of a call as a WebSocket',
  description: 'It carries words instead of audio, and must present its token like a media stream.',
  security: [],
  responses: { 101: { description: 'The socket is open' }, ...refusals(403, 404) },
})

const stream = telephony.get('/call', {
  summary: 'Open the media stream of a call as a WebSocket',
  description:
    'It must present the one-time token from the markup within five seconds, or it is closed with 1008. A ' +
    'refused upgrade may have no body.',
  security: [],
  responses: { 101: { description: 'The socket is open' }, ...refusals(403, 404) },
})

export function voiceMarkupRoutes(routes: Routes, deps: RouteDeps): void {
  const { webhooks, phone, intrusions, newId } = deps

  /** The provider's requests name no language: callers hear the owner's. */
  const speaking = (act: () => Promise<Response>) => inLanguage(deps.owner.language.current(), act)

  async function answer(c: HttpContext): Promise<Response> {
    const request = await webhooks.read(c)
    if (!request.isVerified) return markup(c, sayMarkup(translated(SENTENCES.no_public_url)))
    const call = callOf(request)
    const offer = await phone.reception.offer(call)
    if (call.party === 'guest' && offer.status === 'explained' && offer.reason === 'budget')
      intrusions.count('call_over_budget')
    return markup(c, markupOf(offer))
  }
  function callOf(request: ProviderRequest) {
    const from = request.field('From') || request.field('Caller')
    const callSid = id(request.field('CallSid'))
    return {
      // Only a developer's own request has no CallSid.
      callSid: callSid || newId(),
      isNamed: callSid !== '',
      accountSid: id(request.field('AccountSid')),
      party: request.party(from),
      attestation: request.attestation(from),
      from: from.slice(0, MAX_ID_CHARS),
    }
  }

  // Without the validator, which would consume the body that the signature covers.
  for (const method of ['get', 'post'] as const) {
    routes.openAPIRegistry.registerPath(describe(method))
    routes[method]('/voice-markup', (c) => speaking(() => answer(c)))
  }
  routes.openAPIRegistry.registerPath(stream)
  routes.openAPIRegistry.registerPath(relay)
  routes.openAPIRegistry.registerPath(relayEnded)
  routes.post('/relay-ended', (c) => speaking(() => relayOver(c)))

  async function relayOver(c: HttpContext): Promise<Response> {
    const request = await webhooks.read(c)
    if (!request.isVerified) throw unverified()
    const call = callOf(request)
    const ended = id(request.field('SessionStatus').toLowerCase())
    // Without its message, which may repeat what was said.
    const error = /^\d{1,10}$/.exec(request.field('ErrorCode'))?.[0] ?? ''
    const { callSid } = call
    if (ended) await phone.recordStatus({ callSid, of: 'stream', status: `relay-${ended}`, error })
    if (OVER.has(request.field('CallStatus'))) {
      phone.callEnded(call.callSid, 'hungUp')
      return markup(c, hangUpMarkup())
    }
    const offer = ended === 'failed' ? await phone.resume(call, id(request.field('SessionId'))) : null
    if (offer !== null) return markup(c, markupOf(offer))
    const wasLost = ended === 'failed' || request.field('HandoffData') === CUT_SHORT
    return markup(c, wasLost ? lostMarkup() : hangUpMarkup())
  }
  routes.openAPIRegistry.registerPath(status)
  routes.post('/voice-status', async (c) => {
    const request = await webhooks.read(c)
    const callSid = id(request.field('CallSid'))
    if (!request.isVerified) throw unverified()
    const call = request.field('CallStatus')
    const stream = request.field('StreamEvent')
    const error = request.field('StreamError').slice(0, MAX_ERROR_CHARS)
    if (call) await phone.recordStatus({ callSid, of: 'call', status: call })
    if (stream) await phone.recordStatus({ callSid, of: 'stream', status: stream, error })
    if (stream === 'stream-error') phone.callEnded(callSid, 'streamFailed')
    else if (stream === 'stream-stopped' || OVER.has(call)) phone.callEnded(callSid, 'hungUp')
    return c.body(null, 204)
  })
}

function markupOf(offer: Offer): string {
  if (offer.status === 'busy') return busyMarkup()
  if (offer.status === 'explained') return sayMarkup(translated(SENTENCES[offer.reason]))
  const { host } = new URL(offer.publicUrl)
  if (offer.carriage === 'relay') {
    return relayMarkup({
      relayUrl: `wss://${host}/relay`,
      actionUrl: `${offer.publicUrl}/relay-ended`,
      token: offer.token,
    })
  }
  return connectMarkup({
    // The provider supports only wss, whatever scheme the Public URL has.
    streamUrl: `wss://${host}/call`,
    token: offer.token,
    statusUrl: `${offer.publicUrl}/voice-status`,
    farewell: offer.carriage === 'nothing' ? translated(CANNOT_TALK) : undefined,
  })
}

function id(text: string): string {
  return text.slice(0, MAX_ID_CHARS)
}
