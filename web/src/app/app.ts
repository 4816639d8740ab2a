import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import { createHttp, explain, Refused } from '../api/http.ts'
import { msg } from '../design/msg.ts'
import { setOwnerZone } from '../design/owner-time.ts'
import { plainWords } from '../design/plain-text.ts'
import type { Toaster } from '../design/toaster.ts'
import { forgetUnsettled, keepUnsettled, readUnsettled } from '../timeline/chat/outbox.ts'
import { type ChatSession, createChatSession } from '../timeline/chat/session.ts'
import type { MayConnect } from '../timeline/chat/socket.ts'
import { snooze, tickOff } from '../timers/settle.ts'
import { createNotices } from './notices.ts'
import { offlineCopy } from './offline-copy.ts'
import { ring } from './sound.ts'
import { hasKept, markSignOut, noteDrafts } from './tab-storage.ts'
import { createThemeChoice } from './theme.ts'
import { reportSignOut } from './worker.ts'

/** How long a page waits for the owner's time zone before it uses the browser's. */
const clockTimeoutMs = 2000

/** Services that every page receives. */
export type App = ReturnType<typeof createApp>

export function createApp(options: {
  readonly navigate: (path: string) => void
  readonly enter: () => void
  /** Shows the sign-in form. `enter` returns to the current page. */
  readonly askToSignIn: () => void
  /** Asks the owner to prove who they are. Resolves to false if they cancel. */
  readonly stepUp: () => Promise<boolean>
  readonly toast: Toaster
  readonly clearToasts: () => void
  readonly announce: (text: string) => void
  /** Called with the number of notices that the owner has not seen. */
  readonly onNotices: (unseen: number) => void
}) {
  const { navigate, enter, askToSignIn, toast, announce } = options
  let session: ChatSession | null = null
  const drafts = { settings: new Map<string, string>(), recall: new Map<string, string>() }
  addEventListener('beforeunload', (event) => {
    if (drafts.settings.size + drafts.recall.size > 0 || hasKept(noteDrafts)) event.preventDefault()
  })
  const notices = createNotices({
    toast,
    show: (seq) => navigate(`/?seq=${seq}`),
    tickOff: (reminder) => void attempt(() => tickOff({ http, toast }, reminder)),
    snooze: (reminder) => void attempt(() => snooze({ http, toast }, reminder, { minutes: 10 })),
    ring,
    unseen: async () => (await http.get('/api/notifications')).notifications,
    // What could not be reported is pushed, or reported by the next tab.
    report: (seqs) =>
      void http.post('/api/notifications/seen', { body: { seqs: [...seqs] } }).catch(() => undefined),
    isOnTimeline: () => location.pathname === '/',
    isVisible: () => document.visibilityState === 'visible',
    nowMs: Date.now,
    onCount: options.onNotices,
  })
  let clock: Promise<void> | null = null

  let lost = false
  let signingOut = false

  const closeChat = (): void => {
    session?.close()
    session = null
    notices.clear()
    // One of them may be reading aloud.
    options.clearToasts()
  }
  const forget = (): void => {
    lost = false
    closeChat()
    navigate('/login')
    sessionStorage.clear()
    forgetUnsettled()
    void offlineCopy.clear()
    drafts.settings.clear()
    drafts.recall.clear()
  }
  /**
   * Handles an expired or revoked session: asks the owner to sign in, then returns to this page. Unlike `forget`,
   * keeps the drafts.
   */
  const loseSession = (): void => {
    void offlineCopy.clear()
    // Requests in flight may return 401 during a deliberate sign-out.
    if (signingOut) return
    // On the sign-in page, a late 401 is not a new loss.
    if (location.pathname !== '/login') lost = true
    closeChat()
    askToSignIn()
  }
  const tabs = new BroadcastChannel('delegate.signed-out')
  tabs.addEventListener('message', forget)
  const http = createHttp({
    fetch: (input, init) => fetch(input, init),
    stepUp: options.stepUp,
    onNoSession: loseSession,
    onNotInstalled: () => navigate('/install'),
  })

  /** A refused stream gives no reason, so ask the service whether the session is still valid. */
  async function mayConnect(): Promise<MayConnect> {
    try {
      const { configured, authenticated } = await http.get('/auth/status', {
        signal: AbortSignal.timeout(5000),
      })
      if (configured && authenticated) return 'yes'
      if (configured) loseSession()
      else navigate('/install')
      return 'no'
    } catch {
      // The service is unreachable: the socket keeps retrying with backoff.
      return 'unknown'
    }
  }

  async function endSession(): Promise<void> {
    signingOut = true
    try {
      await offlineCopy.drop()
      await http.post('/logout')
    } catch (error) {
      // 401: the session had already ended.
      if (!(error instanceof Refused) || error.problem.status !== 401) throw error
    } finally {
      signingOut = false
    }
    markSignOut()
    forget()
    tabs.postMessage(null)
    void reportSignOut()
  }

  /** Runs an action, and shows why if it fails. True if it succeeded. */
  async function attempt(act: () => Promise<unknown>): Promise<boolean> {
    try {
      await act()
      return true
    } catch (error) {
      toast(explain(error), 'warning')
      return false
    }
  }

  /** Says what was done, in a toast with a button that undoes it. Returns a function that removes it. */
  function offerUndo(text: string, undo: () => Promise<unknown>, shownForMs = 10_000): () => void {
    return toast(text, 'done', { shownForMs, actions: [{ label: msg`Undo`, run: () => void attempt(undo) }] })
  }

  async function readClock(): Promise<void> {
    try {
      const { entries } = await http.get('/api/config', {
        query: { key: 'TIMEZONE' },
        signal: AbortSignal.timeout(clockTimeoutMs),
      })
      setOwnerZone(String(entries[0]?.value ?? 'UTC'))
    } catch {
      // Show times in the browser's zone and retry on the next page.
      clock = null
    }
  }

  function refreshClock({ type, payload }: TimelineEvent): void {
    const { keys } = payload
    if (type === 'settings.changed' && Array.isArray(keys) && keys.includes('TIMEZONE')) clock = readClock()
  }

  /** The chat session of this tab. Opened on first use and shared by all pages. */
  function chat(): ChatSession {
    if (session) return session
    session = createChatSession({
      socketUrl: `${location.origin.replace(/^http/, 'ws')}/chat`,
      mayConnect,
      onProblem: (problem) => toast(problem.detail, 'warning'),
      onReply: (text) => announce(msg`Delegate: ${plainWords(text).slice(0, 300)}`),
      onMalformed: () =>
        toast(
          msg`The service sent a message that this page does not understand. Reload the page.`,
          'warning',
        ),
      onOpen() {
        notices.catchUp()
        offlineCopy.renewSoon()
      },
      readCopy: offlineCopy.timeline,
      unsettled: { kept: readUnsettled(), keep: keepUnsettled },
    })
    session.follow((event, live) => {
      if (!live) return
      notices.take(event)
      if (event.type.startsWith('erasure.')) offlineCopy.renewSoon()
      refreshClock(event)
    })
    return session
  }

  return {
    http,
    theme: createThemeChoice(document.documentElement),
    navigate,
    /** After sign-in: goes to the page that was requested before it. */
    enter,
    toast,
    attempt,
    offerUndo,
    /** Announces a sentence to screen readers. */
    announce,
    /** Unsaved form input. Survives navigation and an expired session. */
    drafts,
    /** Signs out and clears the state of every tab in this browser. */
    signOut: endSession,
    mayConnect,
    /** True if the session expired or was revoked, rather than ended by signing out here. */
    isSessionLost: () => lost,
    chat,
    /** Marks all notices as seen. */
    seeNotices: notices.seen,
    /** The owner has touched the page, or come back to it. */
    touched: notices.touched,
    /** Resolves once the owner's time zone is loaded or has failed to load. */
    clockReady(): Promise<void> {
      clock ??= readClock()
      return clock
    },
  }
}
