import type { EventOf } from '../../ledger/event.ts'
import type { Settings } from './settings.ts'

export type Party = 'owner' | 'guest'

/** Stands for the number of the owner, who talks in a browser. */
export const BROWSER = 'browser'

/** The owner's identity in the provider's voice client. */
const OWNER_CLIENT = 'client:owner'

const E164 = /^\+[1-9]\d{6,14}$/

/** Whether it is a whole number with its country code. A short code or the name of a sender is not. */
export const isPhoneNumber = (text: string): boolean => E164.test(text)

/** What the provider sends if the caller withholds their number: a word, or that word on a phone keypad. */
const WITHHELD = new Set(['', 'anonymous', 'blocked', 'private', 'restricted', 'unavailable', 'unknown'])
const WITHHELD_ON_KEYS = new Set([
  '+266696687',
  '+2562533',
  '+7378742833',
  // A misspelling that the provider also sends.
  '+7378742883',
  '+86282452253',
  '+8656696',
])

/** Whether the number is withheld. Such callers cannot be told apart, so they share no history. */
export function isWithheld(from: string): boolean {
  return WITHHELD.has(from.trim().toLowerCase()) || WITHHELD_ON_KEYS.has(from)
}

/** The owner's current numbers. */
export function ownerNumbersOf(settings: Pick<Settings, 'get'>): readonly string[] {
  return settings.get('OWNER_PHONE_NUMBER')?.split(',') ?? []
}

export type Attestation = NonNullable<EventOf<'call.offered'>['facts']['attestation']>

/** https://www.twilio.com/docs/voice/trusted-calling-with-shakenstir */
const VERDICTS: readonly (readonly [RegExp, Attestation])[] = [
  [/^TN-Validation-Failed/i, 'failed'],
  // A call that was diverted on its way says more after the level, and gets less trust.
  [/^TN-Validation-Passed-A$/i, 'full'],
  [/^TN-Validation-Passed-[AB]/i, 'partial'],
  [/^TN-Validation-Passed-C/i, 'gateway'],
]

/**
 * What vouches for the caller ID of a call. `verdict` is the provider's: only with level A, `full`, does the
 * carrier know that the caller has the right to the number.
 */
export function attestationOf(from: string, verdict: string): Attestation {
  if (from === OWNER_CLIENT) return 'client'
  return VERDICTS.find(([pattern]) => pattern.test(verdict))?.[1] ?? 'none'
}

/**
 * Identifies the owner by exact number, or by the voice client's identity in a signed request. A call whose
 * attestation failed is a guest's. Caller ID can be forged even in a signed request, so the result must never
 * authorise a consequential deed.
 */
export function partyOf(caller: {
  readonly from: string
  readonly ownerNumbers: readonly string[]
  readonly signed: boolean
  /** Absent for texts. */
  readonly attestation?: Attestation
}): Party {
  if (caller.from === OWNER_CLIENT) return caller.signed ? 'owner' : 'guest'
  if (caller.attestation === 'failed') return 'guest'
  return isPhoneNumber(caller.from) && caller.ownerNumbers.includes(caller.from) ? 'owner' : 'guest'
}
