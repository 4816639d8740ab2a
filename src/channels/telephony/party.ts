/** Who is on the line, as far as the service may act on it. */
export type Party = 'owner' | 'guest'

/** The identity under which the owner's own browser or app dials in through the provider's voice client. */
const OWNER_CLIENT = 'client:owner'

const E164 = /^\+[1-9]\d{6,14}$/

/** The owner's numbers out of the setting, which may list several. What is no E.164 number matches nobody. */
export function parseOwnerNumbers(setting: string): readonly string[] {
  return setting.split(/[\s,;]+/).filter((number) => E164.test(number))
}

/**
 * The owner by exact number, or by the voice client's identity where the provider signed the request; everybody
 * else, the nameless and the nearly equal included, is a guest. Caller ID can be forged even in a signed request:
 * this decides who is talked to, never what may be done unconfirmed.
 */
export function partyOf(caller: {
  readonly from: string
  readonly ownerNumbers: readonly string[]
  readonly signed: boolean
}): Party {
  if (caller.from === OWNER_CLIENT) return caller.signed ? 'owner' : 'guest'
  return E164.test(caller.from) && caller.ownerNumbers.includes(caller.from) ? 'owner' : 'guest'
}
