import type { Settings } from '../../settings/settings.ts'

/** Who is on the line, as far as the service may act on it. */
export type Party = 'owner' | 'guest'

/** The identity under which the owner's own browser or app dials in through the provider's voice client. */
const OWNER_CLIENT = 'client:owner'

const E164 = /^\+[1-9]\d{6,14}$/

/** What the provider gives where a caller withholds their number: a word, or the same on a phone's keys. */
const WITHHELD = new Set(['', 'anonymous', 'blocked', 'private', 'restricted', 'unavailable', 'unknown'])
const WITHHELD_ON_KEYS = new Set([
  '+266696687',
  '+2562533',
  '+7378742833',
  // As the provider has been seen to spell it, too.
  '+7378742883',
  '+86282452253',
  '+8656696',
])

/** Whether nothing tells this caller from the next one: whatever such callers said before may be another's. */
export function isWithheld(from: string): boolean {
  return WITHHELD.has(from.trim().toLowerCase()) || WITHHELD_ON_KEYS.has(from)
}

/** The owner's numbers as they are set now. */
export function ownerNumbersOf(settings: Pick<Settings, 'get'>): readonly string[] {
  return parseOwnerNumbers(settings.get('OWNER_PHONE_NUMBER') ?? '')
}

/** The owner's numbers out of the setting, which may list several. What is no E.164 number matches nobody. */
export function parseOwnerNumbers(setting: string): readonly string[] {
  return setting.split(/[\s,;]+/).filter((number) => E164.test(number))
}

/** What the provider says of a caller's number that its owner's carrier did not vouch for (STIR/SHAKEN). */
const FAILED = /^TN-Validation-Failed/i

/**
 * The owner by exact number, or by the voice client's identity where the provider signed the request; everybody
 * else, the nameless and the nearly equal included, is a guest, and so is a call whose attestation failed. Caller ID can
 * be forged even in a signed request: this decides who is talked to, never what may be done unconfirmed.
 */
export function partyOf(caller: {
  readonly from: string
  readonly ownerNumbers: readonly string[]
  readonly signed: boolean
  /** What the provider says of the number's attestation; empty where it says nothing, as for texts. */
  readonly attestation?: string
}): Party {
  if (caller.from === OWNER_CLIENT) return caller.signed ? 'owner' : 'guest'
  if (FAILED.test(caller.attestation ?? '')) return 'guest'
  return E164.test(caller.from) && caller.ownerNumbers.includes(caller.from) ? 'owner' : 'guest'
}
