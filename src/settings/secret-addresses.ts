import * as z from 'zod'
import { OPENAI_BASE_URL } from '../model/openai/defaults.ts'
import type { SettingKey } from './registry.ts'
import { originsIn } from './service-settings.ts'

/** The setting with the address that a secret is sent to, and its default. */
type Address = { readonly setting: SettingKey; readonly default: string }

const model: Address = { setting: 'OPENAI_BASE_URL', default: OPENAI_BASE_URL }
const telephony: Address = { setting: 'TELEPHONY_API_BASE_URL', default: 'https://api.twilio.com' }

/** Every secret that leaves the service. Each is sent only to the origin that it was entered for. */
const addresses: ReadonlyMap<SettingKey, Address> = new Map([
  ['OPENAI_API_KEY', model],
  ['TELEPHONY_AUTH_TOKEN', telephony],
  ['TELEPHONY_API_KEY_SECRET', telephony],
])

/**
 * The origin that a secret would be sent to under these settings; null if it never leaves the service. For the keys
 * of several services, the origin of each: if one moves, none is sent until they are entered again.
 */
export function destinationOf(
  key: SettingKey,
  read: (key: SettingKey) => string | number | null | undefined,
): string | null {
  if (key === 'SERVICE_KEYS') return originsIn(read('SERVICES'))
  const address = addresses.get(key)
  return address === undefined ? null : new URL(String(read(address.setting) ?? address.default)).origin
}

const boundSchema = z.object({ secret: z.string(), enteredFor: z.string() })

/** The text to seal: the secret together with its origin, so that neither can be swapped. */
export function packSecret(secret: unknown, enteredFor: string | null): string {
  return JSON.stringify(enteredFor === null ? secret : { secret, enteredFor })
}

/** `enteredFor` is null for a secret that never leaves the service or that an earlier version stored. */
export function unpackSecret(text: string): { readonly secret: unknown; readonly enteredFor: string | null } {
  const content: unknown = JSON.parse(text)
  const bound = boundSchema.safeParse(content)
  return bound.success ? bound.data : { secret: content, enteredFor: null }
}
