import type { Twilio } from 'twilio'
import * as z from 'zod'
import { planNumber, type WebhookChange, webhookUrls } from './pointing.ts'

export type CheckStep = { readonly name: string; readonly ok: boolean; readonly detail: string }

const REACH_MS = 5_000

/**
 * Walks what a call or a text needs, from the account to the model that talks, and says at each step what is wrong
 * and how to mend it. Later steps are tried although an earlier one failed, as far as they can be. Never throws for
 * what the provider or the network does; no secret is in what it says.
 */
export async function checkTelephony(options: {
  readonly client: () => Promise<Twilio | null>
  readonly number: string | null
  /** The delegate's own application at the provider, where it has one. */
  readonly applicationSid: string | null
  readonly publicUrl: string | null
  readonly ownerNumbers: readonly string[]
  readonly realtimeModel: string | null
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
      'credentials',
      false,
      'Set TELEPHONY_ACCOUNT_SID and TELEPHONY_AUTH_TOKEN: both are on the front page of your account. A token that was entered for another TELEPHONY_API_BASE_URL is not used.',
    )
  }
  const isPublic = checkPublicUrl(publicUrl, add)
  if (number === null)
    add('number', false, "Set TELEPHONY_PHONE_NUMBER to the delegate's number, like +14155550111.")
  else if (client && signedIn) {
    await checkNumber(client, number, options.applicationSid, isPublic ? publicUrl : null, add)
  }
  if (publicUrl !== null && isPublic) await checkReachable(publicUrl, options, add)
  add(
    'owner',
    options.ownerNumbers.length > 0,
    options.ownerNumbers.length > 0
      ? `${options.ownerNumbers.length} phone number(s) are the owner's.`
      : 'Set OWNER_PHONE_NUMBER: until then everybody who calls or texts is a guest, you too.',
  )
  add(
    'realtime model',
    options.realtimeModel !== null,
    options.realtimeModel === null
      ? 'Calls need a realtime model: set OPENAI_API_KEY, or REALTIME_MODEL where OPENAI_BASE_URL is another server. Texts work without.'
      : `${options.realtimeModel} talks on the phone.`,
  )
  return { ok: steps.every(({ ok }) => ok), steps }
}

type Add = (name: string, ok: boolean, detail: string) => boolean

async function signIn(client: Twilio, add: Add): Promise<boolean> {
  try {
    await client.applications.list({ limit: 1 })
    return add('credentials', true, 'The provider accepts them.')
  } catch (error) {
    return add('credentials', false, explain(error))
  }
}

function checkPublicUrl(publicUrl: string | null, add: Add): boolean {
  if (publicUrl === null) {
    return add(
      'public URL',
      false,
      'Set PUBLIC_URL to the https address under which the internet reaches this service.',
    )
  }
  const isSecure = publicUrl.startsWith('https://')
  return add(
    'public URL',
    isSecure,
    isSecure
      ? publicUrl
      : `${publicUrl} is not https: the provider opens media streams by wss only. Use an https address.`,
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
    // Without a Public URL it is only asked whether the number is there.
    const plan = await planNumber(client, { phoneNumber, applicationSid, publicUrl: publicUrl ?? '' })
    if (plan === null) {
      add(
        'number',
        false,
        `${phoneNumber} is not a number of this account. Correct TELEPHONY_PHONE_NUMBER, or buy it there.`,
      )
      return
    }
    add('number', true, `${phoneNumber} belongs to this account.`)
    if (publicUrl === null) return
    const { voiceUrl, smsUrl, statusCallback } = webhookUrls(publicUrl)
    const steps = [
      { name: 'voice webhook', of: 'voice', url: voiceUrl },
      { name: 'SMS webhook', of: 'SMS', url: smsUrl },
      { name: 'call status webhook', of: 'call status', url: statusCallback },
    ] as const
    for (const { name, of, url } of steps) {
      const change = plan.changes.find((each) => each.name === of)
      add(name, change === undefined, change === undefined ? url : mismatch(change))
    }
  } catch (error) {
    add('number', false, explain(error))
  }
}

async function checkReachable(
  publicUrl: string,
  options: { readonly fetch: typeof fetch; readonly signal: AbortSignal },
  add: Add,
): Promise<void> {
  const name = 'reachability'
  const stale = 'Is the tunnel or proxy running, and PUBLIC_URL its present address?'
  try {
    const signal = AbortSignal.any([options.signal, AbortSignal.timeout(REACH_MS)])
    const answer = await options.fetch(`${publicUrl}/public-url`, { signal, redirect: 'error' })
    const ours = z.object({ publicUrl: z.literal(publicUrl) })
    const isOurs = answer.ok && ours.safeParse(await answer.json()).success
    add(
      name,
      isOurs,
      isOurs ? 'This service answers there.' : `Something else answers at ${publicUrl}. ${stale}`,
    )
  } catch {
    // Whatever it was, the owner can only look at the tunnel.
    add(name, false, `Nothing answers at ${publicUrl}. ${stale}`)
  }
}

function mismatch({ from, to }: WebhookChange): string {
  const now = from ? `It points to ${from}` : 'It points nowhere'
  return `${now}; it must be ${to}. Press "Point my number here", or correct it in the account.`
}

const refusal = z.object({ status: z.number() })

/** Says what the owner can do about an error of the provider or the network. */
export function explain(error: unknown): string {
  const status = refusal.safeParse(error).data?.status
  if (status === 401 || status === 403)
    return 'The provider refuses the credentials. Copy the account SID and auth token again.'
  if (status === 404) return 'The provider knows no such thing in this account.'
  if (status === 429) return 'The provider limits requests right now. Try again in a minute.'
  return status !== undefined
    ? `The provider answered with ${status}.`
    : 'The provider cannot be reached. Check the network, and TELEPHONY_API_BASE_URL if it is set.'
}
