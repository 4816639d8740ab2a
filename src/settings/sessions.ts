import { hash } from 'node:crypto'
import type { SettingsStore, StoredSession } from './store.ts'

const DAY_MS = 24 * 60 * 60_000
export const SESSION_IDLE_MS = 30 * DAY_MS
export const SESSION_MAX_MS = 90 * DAY_MS

/** A session's last use is written at most this often. */
const TOUCH_EVERY_MS = 60_000
const MAX_USER_AGENT_CHARS = 300

export type Session = Omit<StoredSession, 'tokenHash'>

/** A session that is not in force yet, with the token that will carry it. */
export type NewSession = { readonly token: string; readonly session: StoredSession }

/** Who is signed in. Facts about it are the owner account's; here are only the sessions themselves. */
export type Sessions = {
  /** Draws a session without putting it in force, so that its fact can come first. */
  draw(userAgent: string): NewSession
  save(session: StoredSession): void
  /** The session that a token carries; null where there is none any more. Counts as a use of it. */
  find(token: string): Session | null
  /** Those in force, last used first. */
  list(): readonly Session[]
  /** Ends sessions and tells who waits for it. */
  end(ids: readonly string[]): void
  /** Tells who waits for the end of sessions that the store has ended already. */
  ended(ids: readonly string[]): void
  /** Calls `onEnded` once when the session ends, however that comes. Returns what takes the wish back. */
  onEnded(id: string, onEnded: () => void): () => void
  /** Ends what has run out; to be called now and then, so that open sockets end too. */
  endExpired(): void
}

export function createSessions(options: {
  readonly store: SettingsStore
  readonly nowMs: () => number
  readonly newId: () => string
  /** At least 128 unguessable bits, in characters that a cookie may hold. */
  readonly newToken: () => string
  readonly onWarning: (message: string, fields: Record<string, unknown>) => void
}): Sessions {
  const { store, nowMs, newId, newToken, onWarning } = options
  const waiting = new Map<string, Set<() => void>>()

  function isExpired(session: StoredSession): boolean {
    const now = nowMs()
    return now - session.lastSeenAtMs > SESSION_IDLE_MS || now - session.createdAtMs > SESSION_MAX_MS
  }

  /** Records a use. A clock that was set back must not leave a session in the future, or it would outlive its limits. */
  function touch({ id, createdAtMs }: StoredSession): void {
    const now = nowMs()
    try {
      store.touchSession(id, Math.min(createdAtMs, now), now)
    } catch (error) {
      // A full disk keeps nobody out who is signed in.
      onWarning('The use of a session could not be recorded.', { err: error })
    }
  }

  function ended(ids: readonly string[]): void {
    for (const id of ids) {
      const listeners = waiting.get(id)
      waiting.delete(id)
      for (const listener of listeners ?? []) listener()
    }
  }

  function end(ids: readonly string[]): void {
    if (ids.length === 0) return
    store.deleteSessions(ids)
    ended(ids)
  }

  return {
    draw(userAgent) {
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
    save: (session) => store.writeSession(session),
    find(token) {
      const stored = store.sessionByTokenHash(tokenHash(token))
      if (!stored) return null
      if (isExpired(stored)) {
        end([stored.id])
        return null
      }
      if (Math.abs(nowMs() - stored.lastSeenAtMs) >= TOUCH_EVERY_MS) touch(stored)
      return withoutHash(stored)
    },
    list: () =>
      store
        .sessions()
        .filter((session) => !isExpired(session))
        .map(withoutHash),
    end,
    ended,
    onEnded(id, onEnded) {
      const listeners = waiting.get(id) ?? new Set()
      waiting.set(id, listeners.add(onEnded))
      return () => {
        listeners.delete(onEnded)
        if (listeners.size === 0 && waiting.get(id) === listeners) waiting.delete(id)
      }
    },
    endExpired() {
      const all = store.sessions()
      end(all.filter(isExpired).map(({ id }) => id))
      const now = nowMs()
      for (const session of all) {
        if (!isExpired(session) && (session.createdAtMs > now || session.lastSeenAtMs > now)) touch(session)
      }
    },
  }
}

/** A token has 256 random bits, so a plain digest is enough: there is nothing to guess. */
function tokenHash(token: string): string {
  return hash('sha256', token)
}

function withoutHash({ id, createdAtMs, lastSeenAtMs, userAgent }: StoredSession): Session {
  return { id, createdAtMs, lastSeenAtMs, userAgent }
}
