import { hash } from 'node:crypto'
import { DAY_MS } from '../lib/time.ts'
import type { SettingsStore, StoredSession } from './store.ts'

export const SESSION_IDLE_MS = 30 * DAY_MS
export const SESSION_MAX_MS = 90 * DAY_MS
/** How long a proof of who is there counts: signing in, or proving it again. */
export const PROOF_MS = 5 * 60_000

/** A session's last use is written at most this often. */
const TOUCH_EVERY_MS = 60_000
/** Wrong proofs in a row that end a session. The throttle alone would allow hundreds of guesses a day. */
const MAX_REFUSED_PROOFS = 20
const MAX_USER_AGENT_CHARS = 300

export type Session = Omit<StoredSession, 'tokenHash'>

/** A session that is not saved yet, with its token. */
export type NewSession = { readonly token: string; readonly session: StoredSession }

export type Sessions = ReturnType<typeof createSessions>

/** Sign-in sessions. The owner account records the facts about them. */
export function createSessions(options: {
  readonly store: SettingsStore
  readonly nowMs: () => number
  readonly newId: () => string
  /** At least 128 random bits, in characters that a cookie may contain. */
  readonly newToken: () => string
  readonly onWarning: (message: string, fields: Record<string, unknown>) => void
}) {
  const { store, nowMs, newId, newToken, onWarning } = options
  /** Proofs since the start; after a restart, the owner may have to prove it again. */
  const provedAtMsById = new Map<string, number>()
  const refusedProofsById = new Map<string, number>()
  const listenersById = new Map<string, Set<() => void>>()

  function isExpired(session: StoredSession): boolean {
    const now = nowMs()
    return now - session.lastSeenAtMs > SESSION_IDLE_MS || now - session.createdAtMs > SESSION_MAX_MS
  }

  /** Records a use, and corrects timestamps that a clock set back has left in the future. */
  function touch({ id, createdAtMs }: StoredSession): void {
    const now = nowMs()
    try {
      store.touchSession(id, Math.min(createdAtMs, now), now)
    } catch (error) {
      // A full disk must not lock out a signed-in owner.
      onWarning('Could not record the use of a session.', { err: error })
    }
  }

  /** Notifies the listeners of sessions that the store has already ended. */
  function ended(ids: readonly string[]): void {
    for (const id of ids) {
      provedAtMsById.delete(id)
      refusedProofsById.delete(id)
      const listeners = listenersById.get(id)
      listenersById.delete(id)
      for (const listener of listeners ?? []) listener()
    }
  }

  /** Ends sessions and notifies their listeners. */
  function end(ids: readonly string[]): void {
    if (ids.length === 0) return
    store.deleteSessions(ids)
    ended(ids)
  }

  return {
    /** Creates a session without saving it, so that its fact can be recorded first. */
    prepare(userAgent: string): NewSession {
      const token = newToken()
      const now = nowMs()
      return {
        token,
        session: {
          id: newId(),
          tokenHash: tokenHash(token),
          createdAtMs: now,
          lastSeenAtMs: now,
          userAgent: userAgent.slice(0, MAX_USER_AGENT_CHARS),
        },
      }
    },
    save: (session: StoredSession) => store.writeSession(session),
    /** The session of a token; null if it no longer exists. Counts as a use of it. */
    find(token: string): Session | null {
      const stored = store.sessionByTokenHash(tokenHash(token))
      if (!stored) return null
      if (isExpired(stored)) {
        end([stored.id])
        return null
      }
      if (Math.abs(nowMs() - stored.lastSeenAtMs) >= TOUCH_EVERY_MS) touch(stored)
      return withoutHash(stored)
    },
    /** Current sessions, last used first. */
    list: () =>
      store
        .sessions()
        .filter((session) => !isExpired(session))
        .map(withoutHash),
    /** Records a fresh proof of the owner in this session. */
    prove(id: string): void {
      provedAtMsById.set(id, nowMs())
      refusedProofsById.delete(id)
    },
    /** Counts a wrong proof. True if too many have followed each other, so that the session must end. */
    refuse(id: string): boolean {
      const refused = (refusedProofsById.get(id) ?? 0) + 1
      refusedProofsById.set(id, refused)
      return refused >= MAX_REFUSED_PROOFS
    },
    /** Whether the last proof is recent. A clock that was set back does not prolong it. */
    hasRecentProof: ({ id, createdAtMs }: Session) =>
      Math.abs(nowMs() - (provedAtMsById.get(id) ?? createdAtMs)) <= PROOF_MS,
    end,
    ended,
    /** Calls `onEnded` once when the session ends for any reason. Returns a function that unsubscribes. */
    onEnded(id: string, onEnded: () => void): () => void {
      const listeners = listenersById.get(id) ?? new Set()
      listenersById.set(id, listeners.add(onEnded))
      return () => {
        listeners.delete(onEnded)
        if (listeners.size === 0 && listenersById.get(id) === listeners) listenersById.delete(id)
      }
    },
    /** Ends expired sessions. Called periodically, so that open sockets close too. */
    endExpired(): void {
      const all = store.sessions()
      end(all.filter(isExpired).map(({ id }) => id))
      const now = nowMs()
      for (const session of all) {
        if (!isExpired(session) && (session.createdAtMs > now || session.lastSeenAtMs > now)) touch(session)
      }
    },
  }
}

/** A token has 256 random bits, so a plain digest is enough. */
function tokenHash(token: string): string {
  return hash('sha256', token)
}

function withoutHash({ id, createdAtMs, lastSeenAtMs, userAgent }: StoredSession): Session {
  return { id, createdAtMs, lastSeenAtMs, userAgent }
}
