import * as z from 'zod'
import { OPENAI_BASE_URL } from '../model/openai/defaults.ts'
import type { SettingKey } from './registry.ts'

/** The setting that says where a secret is sent, and where it is sent while that is unset. */
type Address = { readonly setting: SettingKey; readonly default: string }

const model: Address = { setting: 'OPENAI_BASE_URL', default: OPENAI_BASE_URL }
const telephony: Address = { setting: 'TELEPHONY_API_BASE_URL', default: 'https://api.twilio.com' }

/** Every secret that leaves the service. Each is sent only to the origin that it was entered for. */
const addresses: ReadonlyMap<SettingKey, Address> = new Map([
  ['OPENAI_API_KEY', model],
  ['TELEPHONY_AUTH_TOKEN', telephony],
  ['TELEPHONY_API_KEY_SECRET', telephony],
])

/** The origin that a secret would be sent to by these settings; null for one that never leaves. */
export function destinationOf(
  key: SettingKey,
  read: (key: SettingKey) => string | number | null | undefined,
): string | null {
  const address = addresses.get(key)
  return address === undefined ? null : new URL(String(read(address.setting) ?? address.default)).origin
}

const boundSchema = z.object({ secret: z.string(), enteredFor: z.string() })

/** The text that is sealed: the secret together with its origin, so that neither can be exchanged. */
export function packSecret(secret: unknown, enteredFor: string | null): string {
  return JSON.stringify(enteredFor === null ? secret : { secret, enteredFor })
}

/** `enteredFor` is null for a secret that never leaves, and for one that an earlier version stored. */
export function unpackSecret(text: string): { readonly secret: unknown; readonly enteredFor: string | null } {
  const content: unknown = JSON.parse(text)
  const bound = boundSchema.safeParse(content)
  return bound.success ? bound.data : { secret: content, enteredFor: null }
}
