import { z } from '@hono/zod-openapi'
import { wordSchema } from '../../../ledger/define-event.ts'
import { inLanguage, msg } from '../../language/msg.ts'
import { messageMarkup } from '../../phone/line/markup.ts'
import { form, refusals, tagged } from '../contract/describe.ts'
import type { RouteDeps } from '../features.ts'
import type { Routes } from '../server/env.ts'
import { invalidField } from '../server/problem.ts'
import { markup, unverified } from './provider-webhook.ts'

const { post } = tagged('Telephony')

const MAX_ID_CHARS = 100
/** The provider's limit. */
const MAX_MEDIA = 10

const incoming = post('/sms', {
  summary: 'Receive a text; the reply is sent separately, or in the markup if no account is set up',
  description: 'Called by the telephony provider, which signs its requests.',
  security: [],
  request: {
    body: form('MessageSid', 'From', 'To', 'Body', 'NumMedia', 'MediaContentType0', 'OptOutType'),
  },
  responses: {
    200: { description: 'Markup', content: { 'text/xml': { schema: z.string() } } },
    ...refusals(400, 403),
  },
})

const status = post('/sms/status', {
  summary: 'Receive the delivery status of a text',
  description: 'Called by the telephony provider, which signs its requests.',
  security: [],
  request: { body: form('MessageSid', 'MessageStatus', 'ErrorCode') },
  responses: { 204: { description: 'Recorded' }, ...refusals(400, 403) },
})

export function smsRoutes(routes: Routes, { webhooks, texts, intrusions, owner }: RouteDeps): void {
  const halted = () =>
    inLanguage(
      owner.language.current(),
      () => msg`Halted. Delegate does nothing until you release it in the browser.`,
    )
  // Without the validator, which would consume the body that the signature covers.
  routes.openAPIRegistry.registerPath(incoming)
  routes.post('/sms', async (c) => {
    const request = await webhooks.read(c)
    if (!request.isVerified) throw unverified()
    const from = request.field('From')
    const media = Math.min(MAX_MEDIA, Number.parseInt(request.field('NumMedia'), 10) || 0)
    const outcome = await texts.receive({
      messageSid: messageSid(request.field('MessageSid') || request.field('SmsSid')),
      party: request.party(from),
      from: from.slice(0, MAX_ID_CHARS),
      to: request.field('To').slice(0, MAX_ID_CHARS),
      text: request.field('Body'),
      mediaTypes: Array.from({ length: Math.max(0, media) }, (_, index) =>
        (request.field(`MediaContentType${index}`) || 'unknown').slice(0, MAX_ID_CHARS),
      ),
      optOutType: request.field('OptOutType'),
    })
    if (outcome.status === 'over_budget') intrusions.count('text_over_budget')
    const reply = outcome.status === 'taken' ? outcome.reply : outcome.status === 'halted' ? halted() : null
    return markup(c, messageMarkup(reply))
  })

  routes.openAPIRegistry.registerPath(status)
  routes.post('/sms/status', async (c) => {
    const request = await webhooks.read(c)
    if (!request.isVerified) throw unverified()
    const reported = wordSchema.safeParse(request.field('MessageStatus') || request.field('SmsStatus'))
    if (!reported.success) throw invalidField('MessageStatus', msg`is missing or malformed`)
    const code = Number.parseInt(request.field('ErrorCode'), 10)
    await texts.statusReported({
      messageSid: messageSid(request.field('MessageSid') || request.field('SmsSid')),
      status: reported.data,
      errorCode: Number.isNaN(code) ? null : code,
    })
    return c.body(null, 204)
  })
}

function messageSid(text: string): string {
  if (text === '') throw invalidField('MessageSid', msg`is missing`)
  return text.slice(0, MAX_ID_CHARS)
}
