import { timingSafeEqual } from 'node:crypto'
import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import pLimit from 'p-limit'
import type { Append, EventOf, NewEvent } from '../../ledger/event.ts'
import type { Devices } from './devices.ts'
import type { Factors } from './factors.ts'
import type { Passkeys, Site } from './passkeys.ts'
import { isCommonPassword } from './password-policy.ts'
import type { Passwords } from './passwords.ts'
import { isSettingKey } from './registry.ts'
import type { NewSession, Session, Sessions } from './sessions.ts'
import type { SettingProblem, Settings } from './settings.ts'
import type { PendingInstall, SettingsStore } from './store.ts'
import { normalizeTypedCode } from './typed-code.ts'

/** Keys are unique, so the first request to append a fact with this key installs the service. */
export const INSTALLED_KEY = 'owner.installed'
const signedInKey = (sessionId: string): string => `owner.signed-in:${sessionId}`
const endedKey = (sessionId: string): string => `owner.session-ended:${sessionId}`

export type Installation = {
  readonly password: string
  /** Settings by their keys, as given. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly userAgent: string
  readonly device?: string | undefined
  readonly setupCode: string | null
}

export type InstallOutcome =
  | { readonly status: 'installed'; readonly newSession: NewSession }
  | { readonly status: 'already_installed' }
  | { readonly status: 'setup_code_required' }
  | { readonly status: 'common_password' }
  | { readonly status: 'invalid'; readonly problems: readonly SettingProblem[] }

/** Decides whether a password may be tried now, and records the result. */
export type Attempts = {
  mayTry(): boolean
  failed(): void
  succeeded(): void
}

export type SignIn = {
  readonly password: string
  /** A code of the authenticator app or a recovery code. */
  readonly code?: string | undefined
  readonly userAgent: string
  /** The token by which the browser is recognised. */
  readonly device?: string | undefined
  readonly former: Session | null
}

type Browser = Pick<SignIn, 'userAgent' | 'device' | 'former'>

export type SignInOutcome =
  | { readonly status: 'signed_in'; readonly newSession: NewSession }
  | { readonly status: 'second_factor_required' }
  | { readonly status: 'wrong_password' | 'wrong_code' | 'too_many_attempts' }

/** A factor that shows that the owner is there. */
export type Proof =
  | { readonly password: string }
  | { readonly code: string }
  | { readonly passkey: PasskeyProof }

export type PasskeyProof = { readonly site: Site; readonly response: AuthenticationResponseJSON }

export type PasskeySignInOutcome =
  | { readonly status: 'signed_in'; readonly newSession: NewSession }
  | { readonly status: 'wrong_passkey' }
  | { readonly status: 'too_many_attempts' }

export type PasswordChangeOutcome = 'changed' | 'wrong_password' | 'too_many_attempts' | 'common_password'

export type OwnerAccount = ReturnType<typeof createOwnerAccount>

/**
 * Opens the account. Whatever it does is a fact in the ledger before its promise resolves. Recovers
 * from a crash: an installation, a new password or the end of a session takes effect if its fact reached the
 * ledger, and is dropped if not.
 */
export function createOwnerAccount(options: {
  readonly store: SettingsStore
  readonly settings: Settings
  readonly sessions: Sessions
  readonly passwords: Passwords
  readonly factors: Pick<Factors, 'needsCode' | 'useCode'>
  readonly passkeys: Pick<Passkeys, 'verify'>
  readonly devices: Devices
  readonly append: Append
  /** Whether the ledger holds a fact with that key. */
  readonly hasFact: (key: string) => boolean
  readonly setupCode: string
  readonly newId: () => string
  readonly onWarning: (message: string, fields: Record<string, unknown>) => void
}) {
  const {
    store,
    settings,
    sessions,
    passwords,
    factors,
    passkeys,
    devices,
    append,
    hasFact,
    setupCode,
    newId,
    onWarning,
  } = options
  const serially = pLimit(1)
  let installed = hasFact(INSTALLED_KEY)
  settlePendingInstall()
  settlePendingPassword()
  sessions.end(store.sessions().flatMap(({ id }) => (hasFact(endedKey(id)) ? [id] : [])))
  if (lacksPassword()) {
    onWarning('There is no password: run "npm run owner:reset-password" to set one.', {})
  }

  function lacksPassword(): boolean {
    return installed && store.passwordHash() === null
  }

  function settlePendingInstall(): void {
    const pending = store.pendingInstall()
    if (!pending) return
    if (hasFact(signedInKey(pending.session.id))) applyInstall(pending)
    else store.dropPendingInstall()
  }

  function settlePendingPassword(): void {
    const pending = store.pendingPassword()
    if (!pending) return
    if (hasFact(pending.factKey)) store.completePassword(pending)
    else store.dropPendingPassword()
  }

  function applyInstall(pending: PendingInstall): void {
    const former = store.sessions().map(({ id }) => id)
    store.completeInstall(pending)
    sessions.ended(former)
    settings.reload(pending.settings.map(({ key }) => key).filter(isSettingKey))
  }

  async function installNow(installation: Installation): Promise<InstallOutcome> {
    if (installed) return { status: 'already_installed' }
    const checked = settings.check(installation.settings)
    if (checked.status === 'invalid') return checked
    if (await isCommonPassword(installation.password)) return { status: 'common_password' }
    const newSession = sessions.prepare(installation.userAgent)
    const sessionId = newSession.session.id
    const pending: PendingInstall = {
      passwordHash: await passwords.hash(installation.password),
      session: newSession.session,
      settings: settings.toStored(checked.values),
    }
    // Stored before the fact, applied after it, so that a crash never leaves a fact without a hash.
    store.writePendingInstall(pending)
    const keys = [...checked.values.keys()].sort()
    const timezone = checked.values.get('TIMEZONE') ?? settings.get('TIMEZONE')
    const appended = await append([
      {
        type: 'owner.installed',
        key: INSTALLED_KEY,
        ...byOwner,
        facts: { timezone: String(timezone) },
      },
      ...(keys.length > 0 ? [{ type: 'settings.changed' as const, ...byOwner, facts: { keys } }] : []),
      { type: 'owner.signed-in', key: signedInKey(sessionId), ...byOwner, facts: { sessionId } },
    ])
    installed = true
    if (appended.status === 'duplicate') {
      store.dropPendingInstall()
      return { status: 'already_installed' }
    }
    applyInstall(pending)
    if (installation.device !== undefined) devices.remember(installation.device, installation.userAgent)
    return { status: 'installed', newSession }
  }

  /**
   * Checks the password, then runs `job` unless the password has changed meanwhile. The attempt counts as failed until
   * `more` has found that nothing else is missing either.
   */
  async function afterCheck<T, M = never>(
    password: string,
    attempts: Attempts,
    job: () => Promise<T>,
    more: () => Promise<M | null> = async () => null,
  ): Promise<T | M | 'wrong_password' | 'too_many_attempts'> {
    const passwordHash = store.passwordHash()
    if (passwordHash === null) return attempts.mayTry() ? 'wrong_password' : 'too_many_attempts'
    const verdict = await passwords.verify(password, passwordHash, () => {
      if (!attempts.mayTry()) return false
      // Counted as failed first and undone if right, so that concurrent attempts cannot exceed the limit.
      attempts.failed()
      return true
    })
    if (verdict === 'refused') return 'too_many_attempts'
    if (verdict === 'wrong') return 'wrong_password'
    return serially(async () => {
      if (store.passwordHash() !== passwordHash) return 'wrong_password'
      const missing = await more()
      if (missing !== null) return missing
      attempts.succeeded()
      return job()
    })
  }

  /** What a sign-in by password lacks; null if nothing. */
  async function missingFactor(
    code: string | undefined,
  ): Promise<'second_factor_required' | 'wrong_code' | null> {
    if (!factors.needsCode()) return null
    if (code === undefined) return 'second_factor_required'
    return (await factors.useCode(code)) ? null : 'wrong_code'
  }

  /** Runs `job` if a code or passkey is right. */
  function afterProof<T, W>(
    isRight: () => Promise<boolean>,
    wrong: W,
    attempts: Attempts,
    job: () => Promise<T>,
  ): Promise<T | W | 'too_many_attempts'> {
    return serially(async () => {
      if (!attempts.mayTry()) return 'too_many_attempts'
      attempts.failed()
      if (!(await isRight())) return wrong
      attempts.succeeded()
      return job()
    })
  }

  function afterPasskey<T>({ site, response }: PasskeyProof, attempts: Attempts, job: () => Promise<T>) {
    return afterProof(() => passkeys.verify(site, response), 'wrong_passkey' as const, attempts, job)
  }

  async function beginSession({ userAgent, device, former }: Browser) {
    const newSession = sessions.prepare(userAgent)
    const sessionId = newSession.session.id
    // A separate append: if the former session has already ended, its key must not discard the new fact.
    if (former) await signOut(former)
    const isNew = device !== undefined && devices.remember(device, userAgent)
    const facts = { sessionId, ...(isNew ? { newDevice: true } : {}) }
    await append([{ type: 'owner.signed-in', key: signedInKey(sessionId), ...byOwner, facts }])
    sessions.save(newSession.session)
    return newSession
  }

  async function signOut({ id }: Session): Promise<void> {
    await append([{ ...signedOut(id), key: endedKey(id) }])
    sessions.end([id])
  }

  /** False if there is no such session. */
  async function revoke(sessionId: string, by: 'owner' | 'guessing' = 'owner'): Promise<boolean> {
    if (!sessions.list().some(({ id }) => id === sessionId)) return false
    await append([{ ...revoked(sessionId, by), key: endedKey(sessionId) }])
    sessions.end([sessionId])
    return true
  }

  return {
    isInstalled: () => installed,
    /** Whether the password is lost, as with settings.sqlite. */
    lacksPassword,
    /** Whether a browser has signed in before. */
    knows: devices.knows,
    /** Of concurrent calls, exactly one installs. */
    async install(installation: Installation): Promise<InstallOutcome> {
      if (installed) return { status: 'already_installed' }
      if (!isSetupCode(installation.setupCode ?? '', setupCode)) return { status: 'setup_code_required' }
      return serially(() => installNow(installation))
    },
    /** `former`, a session that the browser still had, ends before the new one begins. */
    async signIn(signIn: SignIn, attempts: Attempts): Promise<SignInOutcome> {
      const outcome = await afterCheck(
        signIn.password,
        attempts,
        () => beginSession(signIn),
        () => missingFactor(signIn.code),
      )
      return typeof outcome === 'string' ? { status: outcome } : { status: 'signed_in', newSession: outcome }
    },
    signOut,
    revoke,
    /** Ends every session but this one. */
    async revokeOthers(session: Session): Promise<void> {
      const others = sessions.list().filter(({ id }) => id !== session.id)
      await Promise.all(others.map(({ id }) => revoke(id)))
    },
    /** Ends every other session. */
    async changePassword(
      session: Session,
      { current, next }: { readonly current: string; readonly next: string },
      attempts: Attempts,
    ): Promise<PasswordChangeOutcome> {
      return afterCheck(current, attempts, async () => {
        if (await isCommonPassword(next)) return 'common_password'
        await replacePassword(await passwords.hash(next), session.id, 'owner')
        return 'changed'
      })
    },
    /** A passkey is unlocked on its device, so it needs neither password nor code. */
    async signInByPasskey(
      { passkey, ...browser }: Browser & { readonly passkey: PasskeyProof },
      attempts: Attempts,
    ): Promise<PasskeySignInOutcome> {
      const outcome = await afterPasskey(passkey, attempts, () => beginSession(browser))
      return typeof outcome === 'string' ? { status: outcome } : { status: 'signed_in', newSession: outcome }
    },
    /** Runs `job` if the proof is right. */
    async confirm<T>(proof: Proof, attempts: Attempts, job: () => Promise<T>) {
      if ('password' in proof) return afterCheck(proof.password, attempts, job)
      if ('passkey' in proof) return afterPasskey(proof.passkey, attempts, job)
      return afterProof(() => factors.useCode(proof.code), 'wrong_code' as const, attempts, job)
    },
    /** Sets a new password without the old one, from the shell. Ends every session. */
    async resetPassword(next: string): Promise<'changed' | 'common_password' | 'not_installed'> {
      if (!installed) return 'not_installed'
      if (await isCommonPassword(next)) return 'common_password'
      const passwordHash = await passwords.hash(next)
      await serially(() => replacePassword(passwordHash, null, 'shell'))
      return 'changed'
    },
  }

  async function replacePassword(
    passwordHash: string,
    keepSessionId: string | null,
    by: 'owner' | 'shell',
  ): Promise<void> {
    const others = store
      .sessions()
      .map(({ id }) => id)
      .filter((id) => id !== keepSessionId)
    // As in installNow: stored before the fact, applied after it.
    const pending = { factKey: `owner.password.changed:${newId()}`, passwordHash, keepSessionId }
    store.writePendingPassword(pending)
    await append([
      { type: 'owner.password.changed', key: pending.factKey, ...byOwner, facts: { by } },
      ...others.map((id) => revoked(id, by === 'shell' ? 'shell' : 'password_change')),
    ])
    store.completePassword(pending)
    sessions.ended(others)
  }
}

const byOwner = { actor: 'owner', channel: 'system' } as const

function signedOut(sessionId: string): NewEvent {
  return { type: 'owner.signed-out', ...byOwner, facts: { sessionId } }
}

function revoked(sessionId: string, by: EventOf<'owner.session.revoked'>['facts']['by']): NewEvent {
  return { type: 'owner.session.revoked', ...byOwner, facts: { sessionId, by } }
}

/** Compares in constant time. */
function isSetupCode(typed: string, setupCode: string): boolean {
  const [given, expected] = [typed, setupCode].map((code) => Buffer.from(normalizeTypedCode(code)))
  return given !== undefined && given.length === expected?.length && timingSafeEqual(given, expected)
}
