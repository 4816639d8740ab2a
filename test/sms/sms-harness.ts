import { expect, onTestFinished } from 'vitest'
import { startTelephonyDouble } from '../doubles/telephony/telephony-double.ts'
import { type PhoneService, startWithPhone } from '../phone/phone-harness.ts'
import { ACCOUNT, AUTH_TOKEN, NUMBER } from '../phone/provider.ts'

/** The whole service with a phone number and a double of the provider. */
export async function startWithTexts(
  options: Parameters<typeof startWithPhone>[0] & {
    readonly double?: Awaited<ReturnType<typeof startTelephonyDouble>>
  } = {},
) {
  const double =
    options.double ?? (await startTelephonyDouble({ accountSid: ACCOUNT, authToken: AUTH_TOKEN }))
  const phone = await startWithPhone({
    ...options,
    environment: { TELEPHONY_API_BASE_URL: double.url, ...options.environment },
  })
  onTestFinished(async () => {
    await phone.service.stop()
    await double.close()
    expect(double.problems).toEqual([])
  })
  return { ...phone, double }
}

export const incoming = (messageSid: string, from: string, body: string) => ({
  MessageSid: messageSid,
  AccountSid: ACCOUNT,
  From: from,
  To: NUMBER,
  Body: body,
  NumMedia: '0',
})
export const text = (phone: PhoneService, messageSid: string, from: string, body: string) =>
  phone.provider.post('/sms', incoming(messageSid, from, body))
