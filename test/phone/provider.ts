import webhooks from 'twilio/lib/webhooks/webhooks.js'
import type { Answer } from '../http/client.ts'
import { createClient } from '../http/client.ts'

export const AUTH_TOKEN = 'the-auth-token-of-the-account'
export const PUBLIC_URL = 'https://delegate.example.com'
export const OWNER = '+14155550100'
export const GUEST = '+14155550199'
export const NUMBER = '+14155550111'
export const ACCOUNT = 'AC1'

export type Fields = Readonly<Record<string, string>>

/** Sends the provider's webhooks, signed over the Public URL wherever they go. */
export function createProvider(port: number) {
  const client = createClient(port)
  const sign = (path: string, fields: Fields, token = AUTH_TOKEN) =>
    webhooks.getExpectedTwilioSignature(token, `${PUBLIC_URL}${path}`, fields)
  const form = (fields: Fields) => new URLSearchParams(fields).toString()

  async function post(path: string, fields: Fields, headers: Record<string, string> = {}): Promise<Answer> {
    const signature: Record<string, string> =
      'x-twilio-signature' in headers ? {} : { 'x-twilio-signature': sign(path, fields) }
    return client.send('POST', path, form(fields), {
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...signature, ...headers },
    })
  }
  const call = (callSid: string, from: string): Fields => ({
    CallSid: callSid,
    AccountSid: ACCOUNT,
    From: from,
    To: NUMBER,
    CallStatus: 'ringing',
    Direction: 'inbound',
  })
  return {
    sign,
    /** Signs the upgrade of a socket. */
    signUpgrade: (url: string) => webhooks.getExpectedTwilioSignature(AUTH_TOKEN, url, {}),
    post,
    client,
    call,
    ring: (callSid: string, from: string) => post('/voice-markup', call(callSid, from)),
  }
}

/** The one-time token in the markup, or an empty string. */
export function tokenOf(markup: string): string {
  return markup.match(/name="token" value="([^"]+)"/)?.[1] ?? ''
}
