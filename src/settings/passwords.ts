import { hash, verify } from '@node-rs/argon2'

/** The hashing of passwords was asked for more often than it can keep up with. */
export class TooManyAttempts extends Error {
  override readonly name = 'TooManyAttempts'
}

/**
 * Hashes and checks passwords. Both are slow on purpose and run beside the event loop, at most two at once, so
 * that a flood of sign-ins leaves a core and two pool threads to the rest of the service.
 */
export type Passwords = {
  hash(password: string): Promise<string>
  /**
   * Waits its turn, then asks `mayTry` and checks the password only if it agrees: what was decided of those
   * ahead in the queue counts. Throws TooManyAttempts where the queue is full.
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
  const waiting: (() => void)[] = []
  let running = 0

  async function inTurn<T>(job: () => Promise<T>): Promise<T> {
    if (running >= AT_ONCE) {
      if (waiting.length >= MAX_WAITING)
        throw new TooManyAttempts('too many passwords are waiting to be checked')
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else {
      running += 1
    }
    try {
      return await job()
    } finally {
      // The place goes straight to the next in line, or is given back.
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }

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
  return password.normalize('NFKC')
}
