import type { Twilio } from 'twilio'
import * as z from 'zod'
import { msg } from '../../language/msg.ts'
import { findDivertingService } from './messaging-service.ts'
import { planNumber, type WebhookChange, webhookUrls } from './pointing.ts'

export type CheckStep = { readonly name: string; readonly ok: boolean; readonly detail: string }

const REACH_MS = 5_000

/**
 * Checks everything that calls and texts need, and explains how to fix each problem. Continues after a failed
 * step where possible. Does not throw on provider or network errors. The result contains no secrets.
 */
export async function checkTelephony(options: {
  readonly client: () => Promise<Twilio | null>
  readonly number: string | null
  /** The delegate's own application at the provider, if any. */
  readonly applicationSid: string | null
  readonly publicUrl: string | null
  readonly ownerNumbers: readonly string[]
  /** How calls are carried, or what they lack. */
  readonly calls: Pick<CheckStep, 'ok' | 'detail'>
  readonly fetch: typeof fetch
  readonly signal: AbortSignal
}): Promise<{ readonly ok: boolean; readonly steps: CheckStep[] }> {
  const { publicUrl, number } = options
  const steps: CheckStep[] = []
  const add = (name: string, ok: boolean, detail: string) => {
    steps.push({ name, ok, detail })
    return ok
  }

  const client = await options.client()
  const signedIn = client !== null && (await signIn(client, add))
  if (client === null) {
    add(
      msg`credentials`,
      false,
      msg`Set TELEPHONY_ACCOUNT_SID and TELEPHONY_AUTH_TOKEN. Both are on the front page of your account. If you changed TELEPHONY_API_BASE_URL, enter the token again.`,
    )
  }
  const isPublic = checkPublicUrl(publicUrl, add)
  if (number === null)
    add(
      msg`number`,
      false,
      msg`Set TELEPHONY_PHONE_NUMBER to the delegate's number, for example +14155550111.`,
    )
  else if (client && signedIn) {
    await checkNumber(client, number, options.applicationSid, isPublic ? publicUrl : null, add)
  }
  if (publicUrl !== null && isPublic) await checkReachable(publicUrl, options, add)
  add(
    msg`owner`,
    options.ownerNumbers.length > 0,
    options.ownerNumbers.length > 0
      ? msg`Phone numbers of the owner: ${options.ownerNumbers.length}.`
      : msg`Set OWNER_PHONE_NUMBER. Until then every caller is a guest, including you.`,
  )
  add(msg`calls`, options.calls.ok, options.calls.detail)
  return { ok: steps.every(({ ok }) => ok), steps }
}

type Add = (name: string, ok: boolean, detail: string) => boolean

async function signIn(client: Twilio, add: Add): Promise<boolean> {
  try {
    await client.applications.list({ limit: 1 })
    return add(msg`credentials`, true, msg`The provider accepts the credentials.`)
  } catch (error) {
    return add(msg`credentials`, false, explain(error))
  }
}

function checkPublicUrl(publicUrl: string | null, add: Add): boolean {
  if (publicUrl === null) {
    return add(
      msg`public URL`,
      false,
      msg`Set PUBLIC_URL to the https address of this service on the internet.`,
    )
  }
  const isSecure = publicUrl.startsWith('https://')
  return add(
    msg`public URL`,
    isSecure,
    isSecure
      ? publicUrl
      : msg`${publicUrl} is not https. The provider opens media streams over wss only. Use an https address.`,
  )
}

async function checkNumber(
  client: Twilio,
  phoneNumber: string,
  applicationSid: string | null,
  publicUrl: string | null,
  add: Add,
): Promise<void> {
  try {
    // Without a Public URL, only checks whether the number exists.
    const plan = await planNumber(client, { phoneNumber, applicationSid, publicUrl: publicUrl ?? '' })
    if (plan === null) {
      add(
        msg`number`,
        false,
        msg`${phoneNumber} is not a number of this account. Correct TELEPHONY_PHONE_NUMBER, or buy the number.`,
      )
      return
    }
    add(msg`number`, true, msg`${phoneNumber} belongs to this account.`)
    if (publicUrl === null) return
    const { voiceUrl, smsUrl, statusCallback } = webhookUrls(publicUrl)
    const steps = [
      { name: msg`voice webhook`, of: 'voice', url: voiceUrl },
      { name: msg`SMS webhook`, of: 'SMS', url: smsUrl },
      { name: msg`call status webhook`, of: 'call status', url: statusCallback },
    ] as const
    const diversion = await explainDiversion(client, phoneNumber, publicUrl)
    for (const { name, of, url } of steps) {
      const change = plan.changes.find((each) => each.name === of)
      const problem = (of === 'SMS' ? diversion : null) ?? (change ? mismatch(change) : null)
      add(name, problem === null, problem ?? url)
    }
  } catch (error) {
    add(msg`number`, false, explain(error))
  }
}

/** Explains why texts do not arrive although the number points here. Null if they do, or if that cannot be seen. */
async function explainDiversion(
  client: Twilio,
  phoneNumber: string,
  publicUrl: string,
): Promise<string | null> {
  // Many keys may not read Messaging Services.
  const service = await findDivertingService(client, phoneNumber, publicUrl).catch(() => null)
  if (service === null) return null
  return msg`The Messaging Service "${service.friendlyName}" takes the texts to this number and does not send them here. In your account, open its Integration settings and choose "Defer to sender's webhook".`
}

async function checkReachable(
  publicUrl: string,
  options: { readonly fetch: typeof fetch; readonly signal: AbortSignal },
  add: Add,
): Promise<void> {
  const name = msg`reachability`
  const stale = msg`Check that the tunnel or proxy is running and that PUBLIC_URL is its current address.`
  try {
    const signal = AbortSignal.any([options.signal, AbortSignal.timeout(REACH_MS)])
    const answer = await options.fetch(`${publicUrl}/public-url`, { signal, redirect: 'error' })
    const ours = z.object({ publicUrl: z.literal(publicUrl) })
    const isOurs = answer.ok && ours.safeParse(await answer.json()).success
    add(
      name,
      isOurs,
      isOurs ? msg`This service answers there.` : msg`Something else answers at ${publicUrl}. ${stale}`,
    )
  } catch {
    // The remedy is the same for any error.
    add(name, false, msg`Nothing answers at ${publicUrl}. ${stale}`)
  }
}

function mismatch({ from, to }: WebhookChange): string {
  const now = from ? msg`It points to ${from}` : msg`It points nowhere`
  return msg`${now}, but must point to ${to}. Press "Point my number here", or change it in your account.`
}

const refusal = z.object({ status: z.number() })

/** Explains a provider or network error, and what the owner can do about it. */
export function explain(error: unknown): string {
  const status = refusal.safeParse(error).data?.status
  if (status === 401 || status === 403)
    return msg`The provider refuses the credentials. Copy the account SID and auth token again.`
  if (status === 404)
    return msg`The provider did not find this in your account. Check the account SID and number.`
  if (status === 429) return msg`The provider is rate limiting requests. Try again in a minute.`
  return status !== undefined
    ? msg`The provider responded with status ${status}. Try again later.`
    : msg`The provider cannot be reached. Check the network, and TELEPHONY_API_BASE_URL if it is set.`
}
