import type { Twilio } from 'twilio'

/** The URLs that the provider must call. */
export function webhookUrls(publicUrl: string) {
  return {
    voiceUrl: `${publicUrl}/voice-markup`,
    smsUrl: `${publicUrl}/sms`,
    statusCallback: `${publicUrl}/voice-status`,
    messageStatusCallback: `${publicUrl}/sms/status`,
  }
}

export type WebhookName = 'voice' | 'SMS' | 'call status' | 'message status'

/** A webhook to change. `from` is null if it is not set. */
export type WebhookChange = { readonly name: WebhookName; readonly from: string | null; readonly to: string }

/** The webhook fields of an application or a number in the provider's API. */
type Addresses = {
  readonly voiceUrl?: string | null
  readonly voiceMethod?: string | null
  readonly smsUrl?: string | null
  readonly smsMethod?: string | null
  readonly statusCallback?: string | null
  readonly statusCallbackMethod?: string | null
  readonly messageStatusCallback?: string | null
}

const FIELDS = [
  { name: 'voice', url: 'voiceUrl', method: 'voiceMethod' },
  { name: 'SMS', url: 'smsUrl', method: 'smsMethod' },
  { name: 'call status', url: 'statusCallback', method: 'statusCallbackMethod' },
  { name: 'message status', url: 'messageStatusCallback', method: null },
] as const

/**
 * The webhooks that differ from the Public URL, and the update that fixes them. Every webhook uses POST. The
 * fragment of a URL may hold the owner's connection overrides, which the provider reads and does not sign.
 */
export function differences(found: Addresses, publicUrl: string, names: readonly WebhookName[]) {
  const wanted = webhookUrls(publicUrl)
  const changes: WebhookChange[] = []
  const update: Record<string, string> = {}
  for (const { name, url, method } of FIELDS) {
    if (!names.includes(name)) continue
    // The provider's own default is POST.
    const isPost = method === null || !found[method] || found[method] === 'POST'
    if (found[url]?.split('#')[0] === wanted[url] && isPost) continue
    const from = found[url] ? `${found[url]}${isPost ? '' : ` (by ${found[method]})`}` : null
    changes.push({ name, from, to: wanted[url] })
    update[url] = wanted[url]
    if (method !== null) update[method] = 'POST'
  }
  return { changes, update }
}

export type Plan = {
  /** Empty if everything points here already. */
  readonly changes: readonly WebhookChange[]
  apply(): Promise<void>
}

/** Plans how to point an application to the Public URL. Throws the errors of the provider's API. */
export async function planApplication(client: Twilio, sid: string, publicUrl: string): Promise<Plan> {
  const application = client.applications(sid)
  const { changes, update } = differences(
    await application.fetch(),
    publicUrl,
    FIELDS.map(({ name }) => name),
  )
  return {
    changes,
    async apply() {
      if (changes.length > 0) await application.update(update)
    },
  }
}

/**
 * Plans how to point a phone number to the Public URL; null if the account does not have it. Detaches the
 * number from applications other than the delegate's own, which may serve other numbers. Throws the
 * provider's errors.
 */
export async function planNumber(
  client: Twilio,
  options: {
    readonly phoneNumber: string
    /** The delegate's own application. */
    readonly applicationSid: string | null
    readonly publicUrl: string
  },
): Promise<Plan | null> {
  const { phoneNumber, applicationSid, publicUrl } = options
  const [number] = await client.incomingPhoneNumbers.list({ phoneNumber, limit: 1 })
  if (!number) return null
  const changes: WebhookChange[] = []
  const ofNumber: Record<string, string> = {}
  const ofApplication: Record<string, string> = {}

  async function planPart(sid: string | null, field: string, names: readonly WebhookName[]): Promise<void> {
    const found: Addresses | null = sid ? await client.applications(sid).fetch() : (number ?? null)
    const part = differences(found ?? {}, publicUrl, names)
    if (part.changes.length === 0) return
    changes.push(...part.changes)
    if (sid && sid === applicationSid) return void Object.assign(ofApplication, part.update)
    // The number's own webhooks take effect once it is detached.
    Object.assign(ofNumber, differences(number ?? {}, publicUrl, names).update, sid ? { [field]: '' } : {})
  }
  await planPart(number.voiceApplicationSid || null, 'voiceApplicationSid', ['voice', 'call status'])
  await planPart(number.smsApplicationSid || null, 'smsApplicationSid', ['SMS'])
  if (number.trunkSid) {
    changes.push({
      name: 'voice',
      from: `the SIP trunk ${number.trunkSid}`,
      to: webhookUrls(publicUrl).voiceUrl,
    })
    Object.assign(ofNumber, differences(number, publicUrl, ['voice', 'call status']).update, { trunkSid: '' })
  }
  return {
    changes,
    async apply() {
      if (applicationSid !== null && Object.keys(ofApplication).length > 0)
        await client.applications(applicationSid).update(ofApplication)
      if (Object.keys(ofNumber).length > 0) await client.incomingPhoneNumbers(number.sid).update(ofNumber)
    },
  }
}
