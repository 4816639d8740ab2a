import { createHmac, timingSafeEqual } from 'node:crypto'

const RANDOM_BYTES = 16
const TIME_BYTES = 8
const KEY_BYTES = 32
/** How long a person may take to answer. */
export const CHALLENGE_MS = 5 * 60_000

export type Challenges = ReturnType<typeof createChallenges>

/**
 * Challenges that are valid once, for five minutes, and not beyond a restart. They carry their expiry and a MAC, so
 * strangers who ask for many take no memory. Only those that were used are remembered, until they expire.
 */
export function createChallenges(options: {
  readonly nowMs: () => number
  readonly randomBytes: (bytes: number) => Uint8Array
}) {
  const { nowMs, randomBytes } = options
  const key = randomBytes(KEY_BYTES)
  const usedUntilMs = new Map<string, number>()

  const macOf = (head: Uint8Array) => createHmac('sha256', key).update(head).digest()

  /** When a challenge expires; null for one that was not made here. */
  function expiryOf(challenge: string): number | null {
    const bytes = Buffer.from(challenge, 'base64url')
    const head = bytes.subarray(0, RANDOM_BYTES + TIME_BYTES)
    const [mac, expected] = [bytes.subarray(head.length), macOf(head)]
    if (head.length < RANDOM_BYTES + TIME_BYTES || mac.length !== expected.length) return null
    return timingSafeEqual(mac, expected) ? head.readDoubleBE(RANDOM_BYTES) : null
  }

  return {
    make(): Uint8Array {
      const time = Buffer.alloc(TIME_BYTES)
      time.writeDoubleBE(nowMs() + CHALLENGE_MS)
      const head = Buffer.concat([randomBytes(RANDOM_BYTES), time])
      return Buffer.concat([head, macOf(head)])
    },
    /** Uses a challenge up. False if it is not from here, expired or was used before. */
    use(challenge: string): boolean {
      const now = nowMs()
      for (const [each, untilMs] of usedUntilMs) if (untilMs < now) usedUntilMs.delete(each)
      const expiryMs = expiryOf(challenge)
      if (expiryMs === null || expiryMs < now || usedUntilMs.has(challenge)) return false
      usedUntilMs.set(challenge, expiryMs)
      return true
    },
  }
}
