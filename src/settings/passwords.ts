import { hash, verify } from '@node-rs/argon2'
import { normalizeText } from '../../projections/normalize-text.ts'
import { createBoundedQueue } from './bounded-queue.ts'

/**
 * Hashes and checks passwords. Both are slow on purpose and run beside the event loop, at most two at once, so
 * that a flood of sign-ins leaves a core and two pool threads to the rest of the service. Both reject with
 * QueueFull when more are waiting than could be served in a few seconds.
 */
export type Passwords = {
  hash(password: string): Promise<string>
  /**
   * Waits its turn, then asks `mayTry` and checks the password only if it agrees: what was decided of those
   * ahead in the queue counts.
   */
  verify(
    password: string,
    passwordHash: string,
    mayTry?: () => boolean,
  ): Promise<'right' | 'wrong' | 'refused'>
}

/** OWASP's password storage cheat sheet: argon2id (the library's default), 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

const AT_ONCE = 2
const MAX_WAITING = 300

export function createPasswords(): Passwords {
  const inTurn = createBoundedQueue(AT_ONCE, MAX_WAITING)
  return {
    hash: (password) => inTurn(() => hash(normalize(password), COST)),
    verify: (password, passwordHash, mayTry = () => true) =>
      inTurn(async () => {
        if (!mayTry()) return 'refused'
        return (await verify(passwordHash, normalize(password))) ? 'right' : 'wrong'
      }),
  }
}

/** One password typed on two keyboards may come as different code points (NIST SP 800-63B, 5.1.1.2). */
export function normalize(password: string): string {
  return normalizeText(password, 'NFKC')
}
