import { hash } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import type { Append } from '../../ledger/event.ts'
import { SettingsUnusable } from './errors.ts'
import {
  byOwner,
  FACTORS,
  type FactorKind,
  type FactorStore,
  factorAdded,
  factorRemoved,
} from './factor-store.ts'
import type { SecretBox } from './secrets.ts'
import { createTypedCode, normalizeTypedCode } from './typed-code.ts'

/** RFC 6238: the parameters that every authenticator app knows. */
const TOTP_SHAPE = { issuer: 'Delegate', label: 'owner', algorithm: 'SHA1', digits: 6, period: 30 } as const
/** Steps that the clocks of app and service may differ (RFC 6238, 5.2). */
const WINDOW_STEPS = 1
/** RFC 4226, 4: the length of the hash. */
const SECRET_BYTES = 20
const RECOVERY_CODES = 10

export type Factors = ReturnType<typeof createFactors>

/**
 * The owner's factors besides the password. With an authenticator app, a sign-in by password also needs a code of
 * it, or a recovery code. Each code counts once. Additions and removals are facts before they take effect.
 */
export function createFactors(options: {
  readonly store: FactorStore
  readonly secrets: Pick<SecretBox, 'seal' | 'open'>
  /** Makes sure that there is a key to seal with. */
  readonly makeKey: () => void
  readonly append: Append
  readonly nowMs: () => number
  readonly randomBytes: (bytes: number) => Uint8Array
  readonly onWarning: (message: string, fields: Record<string, unknown>) => void
}) {
  const { store, secrets, makeKey, append, nowMs, randomBytes, onWarning } = options
  const { read, write } = store
  /** The secret of an app that has not shown a code yet, and the session that asked for it. */
  let begun: { readonly sessionId: string; readonly secret: Secret } | null = null
  if (read().totp !== null) totpSecret()

  /** The app's secret. Null without an app, and where secret.key does not open it: then no code of it counts. */
  function totpSecret(): Secret | null {
    const { totp } = read()
    if (totp === null) return null
    try {
      return Secret.fromBase32(secrets.open(FACTORS, totp.sealed))
    } catch (error) {
      if (!(error instanceof SettingsUnusable)) throw error
      onWarning(
        'The codes of the authenticator app cannot be checked, because secret.key is missing or another one. Put it back, sign in with a recovery code, or run "npm run owner:reset-password".',
        { err: error },
      )
      return null
    }
  }

  const stepAt = (timestamp: number) => TOTP.counter({ period: TOTP_SHAPE.period, timestamp })

  /** The step that a code belongs to; null for a wrong code. */
  function stepOf(code: string, secret: Secret): number | null {
    const timestamp = nowMs()
    const delta = TOTP.validate({ ...TOTP_SHAPE, secret, token: code, timestamp, window: WINDOW_STEPS })
    return delta === null ? null : stepAt(timestamp) + delta
  }

  function makeRecoveryCodes() {
    const codes = Array.from({ length: RECOVERY_CODES }, () => createTypedCode(randomBytes))
    return { codes, recoveryHashes: codes.map(digest) }
  }

  function useTotp(code: string): boolean {
    const { totp } = read()
    const secret = totpSecret()
    const step = secret === null ? null : stepOf(code, secret)
    if (totp === null || step === null) return false
    // A last step beyond the next one is from a clock that was ahead. It must not lock the owner out for years.
    const isClockBack = totp.lastStep > stepAt(nowMs()) + WINDOW_STEPS
    if (step <= totp.lastStep && !isClockBack) return false
    write({ totp: { ...totp, lastStep: step } })
    return true
  }

  /** Used up before its fact, so that no crash in between leaves it valid. */
  async function useRecoveryCode(code: string): Promise<boolean> {
    const { recoveryHashes } = read()
    const left = recoveryHashes.filter((each) => each !== digest(code))
    if (left.length === recoveryHashes.length) return false
    write({ recoveryHashes: left })
    await append([{ ...byOwner, type: 'owner.recovery-code.used', facts: { left: left.length } }])
    return true
  }

  return {
    /** When the authenticator app was added (null without one), and how many recovery codes are left. */
    summary() {
      const { totp, recoveryHashes } = read()
      return { totpAddedAtMs: totp?.addedAtMs ?? null, recoveryCodesLeft: recoveryHashes.length }
    },
    /** Whether a sign-in by password also needs a code. */
    needsCode: () => read().totp !== null,
    /** Uses a code of the app or a recovery code up. False if it is wrong or was used before. */
    useCode: async (typed: string): Promise<boolean> => {
      const code = normalizeTypedCode(typed)
      return /^\d{6}$/.test(code) ? useTotp(code) : useRecoveryCode(code)
    },
    /** Makes a secret for an app, which counts once a code of it is confirmed. Null if there is an app already. */
    beginTotp(sessionId: string): { readonly secret: string; readonly uri: string } | null {
      if (read().totp !== null) return null
      const secret = new Secret({ buffer: Uint8Array.from(randomBytes(SECRET_BYTES)).buffer })
      begun = { sessionId, secret }
      return { secret: secret.base32, uri: new TOTP({ ...TOTP_SHAPE, secret }).toString() }
    },
    /** Adds the app that the session has begun with, and returns recovery codes, which cannot be shown again. */
    async confirmTotp(
      sessionId: string,
      typed: string,
    ): Promise<readonly string[] | 'wrong_code' | 'not_begun'> {
      if (begun?.sessionId !== sessionId || read().totp !== null) return 'not_begun'
      const { secret } = begun
      const lastStep = stepOf(normalizeTypedCode(typed), secret)
      if (lastStep === null) return 'wrong_code'
      begun = null
      makeKey()
      const { codes, recoveryHashes } = makeRecoveryCodes()
      const totp = { sealed: secrets.seal(FACTORS, secret.base32), lastStep, addedAtMs: nowMs() }
      await append([factorAdded('totp')])
      write({ totp, recoveryHashes })
      return codes
    },
    /** Removes the app and its recovery codes. False if there is none. */
    async removeTotp(): Promise<boolean> {
      if (read().totp === null) return false
      await append([factorRemoved('totp', 'owner')])
      write({ totp: null, recoveryHashes: [] })
      return true
    },
    kinds: store.kinds,
    /** Removes every factor, from the shell. Returns the kinds that there were. */
    async removeAll(): Promise<readonly FactorKind[]> {
      const found = store.kinds()
      if (found.length > 0) await append(found.map((kind) => factorRemoved(kind, 'shell')))
      write({ totp: null, recoveryHashes: [], passkeys: [] })
      return found
    },
    /** Replaces all recovery codes. Null without an app. */
    async renewRecoveryCodes(): Promise<readonly string[] | null> {
      if (read().totp === null) return null
      const { codes, recoveryHashes } = makeRecoveryCodes()
      await append([factorAdded('recovery_codes')])
      write({ recoveryHashes })
      return codes
    },
  }
}

/** A recovery code has 80 random bits, so a plain digest is enough. */
function digest(code: string): string {
  return hash('sha256', normalizeTypedCode(code))
}
