import { hash, verify } from '@node-rs/argon2'
import pLimit from 'p-limit'
import { normalize } from './new-password.ts'

/** Too many passwords are waiting. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull'
}

/** OWASP Password Storage Cheat Sheet: argon2id (the library's default), 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

const AT_ONCE = 2
const MAX_WAITING = 300

export type Passwords = ReturnType<typeof createPasswords>

/**
 * Hashes and verifies passwords. Both are slow by design and run off the event loop, at most two at once, so
 * that a flood of sign-ins leaves a core and two pool threads free. Both reject with QueueFull when more are
 * waiting than a few seconds can serve.
 */
export function createPasswords() {
  const limit = pLimit(AT_ONCE)
  async function inTurn<T>(job: () => Promise<T>): Promise<T> {
    if (limit.pendingCount >= MAX_WAITING) throw new QueueFull(`${MAX_WAITING} passwords are already waiting`)
    return limit(job)
  }
  return {
    hash: (password: string) => inTurn(() => hash(normalize(password), COST)),
    /** Asks `mayTry` only when its turn comes, so that the results of earlier attempts count. */
    verify: (password: string, passwordHash: string, mayTry: () => boolean = () => true) =>
      inTurn(async (): Promise<'right' | 'wrong' | 'refused'> => {
        if (!mayTry()) return 'refused'
        return (await verify(passwordHash, normalize(password))) ? 'right' : 'wrong'
      }),
  }
}
