import { type ChatSession, createChatSession } from '../chat/session.ts'
import type { MayConnect } from '../chat/socket.ts'
import { keepUnsettled, readUnsettled } from '../chat/unsettled-messages.ts'
import { fetchAuthStatus, signOut } from '../data/auth.ts'
import { createHttp, type Http, Refused } from '../data/http.ts'
import { fetchTimezone } from '../data/settings.ts'
import type { TimelineEvent } from '../data/timeline.ts'
import type { Toaster } from '../design/toast.ts'
import { setOwnerZone } from '../view/owner-time.ts'
import { newId } from './platform.ts'
import { createReminders } from './reminders.ts'
import { createThemeChoice, type ThemeChoice } from './theme.ts'

/** A page does not wait longer than this for the owner's time zone. */
const clockPatienceMs = 2000

/** What every page is given. */
export type App = {
  readonly http: Http
  readonly theme: ThemeChoice
  /** Goes to another page of this app. */
  readonly navigate: (path: string) => void
  /** From the sign-in to the page that was asked for before it. */
  readonly enter: () => void
  readonly toast: Toaster
  /** Reads a sentence out to assistive technology. */
  readonly announce: (text: string) => void
  /** The chat of this tab: opened when first asked for, kept while the owner goes from page to page. */
  readonly chat: () => ChatSession
  /** What was typed on a page and not saved: it outlives a look at another page, and a sign-in that is lost. */
  readonly drafts: { readonly settings: Map<string, string> }
  /** The owner is where the reminders are, and has seen them. */
  readonly seeReminders: () => void
  /** Resolves once the owner's time zone is known, or cannot be had now. */
  readonly clockReady: () => Promise<void>
  /** Signs out; what this browser's tabs know is then forgotten. */
  readonly signOut: () => Promise<void>
  /** To the sign-in, and back to this page after it: the service says that this browser is not signed in any more. */
  readonly lose: () => void
  /** Whether the sign-in was lost without this page's asking for it: it ran out, or was ended elsewhere. */
  readonly isSessionLost: () => boolean
}

export function createApp(options: {
  readonly navigate: (path: string) => void
  readonly enter: () => void
  /** To the sign-in, from which `enter` leads back to this page. */
  readonly askToSignIn: () => void
  readonly toast: Toaster
  readonly announce: (text: string) => void
  /** So many reminders fell due that the owner has not seen yet. */
  readonly onReminders: (unseen: number) => void
}): App {
  const { navigate, enter, askToSignIn, toast, announce } = options
  let session: ChatSession | null = null
  const drafts = { settings: new Map<string, string>() }
  const reminders = createReminders({
    toast,
    show: (seq) => navigate(`/?seq=${seq}`),
    onCount: options.onReminders,
  })
  let clock: Promise<void> | null = null

  let lost = false
  let signingOut = false

  const closeChat = (): void => {
    session?.close()
    session = null
    reminders.clear()
  }
  const forget = (): void => {
    lost = false
    closeChat()
    navigate('/login')
    sessionStorage.clear()
    drafts.settings.clear()
  }
  /** Whose sign-in was lost did not ask for it: what was typed here is there again after the next. */
  const lose = (): void => {
    // Who signs out asked for it: what else is refused meanwhile says nothing new either.
    if (signingOut) return
    // A late answer to what was asked before says nothing new.
    if (location.pathname !== '/login') lost = true
    closeChat()
    askToSignIn()
  }
  const tabs = new BroadcastChannel('delegate.signed-out')
  tabs.addEventListener('message', forget)
  const http = createHttp({
    fetch: (input, init) => fetch(input, init),
    onNoSession: lose,
    onNotInstalled: () => navigate('/install'),
  })

  /** A refused socket says nothing of why: the service is asked whether this browser is still signed in. */
  async function mayConnect(): Promise<MayConnect> {
    try {
      const { configured, authenticated } = await fetchAuthStatus(http, AbortSignal.timeout(5000))
      if (configured && authenticated) return 'yes'
      if (configured) lose()
      else navigate('/install')
      return 'no'
    } catch {
      // No answer to be had now: the socket tries again and waits longer each time.
      return 'unknown'
    }
  }

  async function endSession(): Promise<void> {
    signingOut = true
    try {
      await signOut(http)
    } catch (error) {
      // Who was signed out before is out.
      if (!(error instanceof Refused) || error.problem.status !== 401) throw error
    } finally {
      signingOut = false
    }
    forget()
    tabs.postMessage(null)
  }

  async function readClock(): Promise<void> {
    try {
      setOwnerZone(await fetchTimezone(http, AbortSignal.timeout(clockPatienceMs)))
    } catch {
      // Until it can be had, times are in the browser's zone.
      clock = null
    }
  }

  function happened({ type, payload }: TimelineEvent): void {
    const { keys } = payload
    if (type === 'settings.changed' && Array.isArray(keys) && keys.includes('TIMEZONE')) clock = readClock()
  }

  function chat(): ChatSession {
    if (session) return session
    session = createChatSession({
      socketUrl: `${location.origin.replace(/^http/, 'ws')}/chat`,
      mayConnect,
      onProblem: (problem) => toast(problem.detail, 'warning'),
      onReply: (text) => announce(`Delegate: ${text.slice(0, 300)}`),
      onMalformed: () => toast('The service sent something that this page does not understand.', 'warning'),
      unsettled: { kept: readUnsettled(), keep: keepUnsettled },
      newId,
      random: Math.random,
      nowMs: Date.now,
    })
    session.follow((event, live) => {
      if (!live) return
      reminders.take(event)
      happened(event)
    })
    return session
  }

  return {
    http,
    theme: createThemeChoice(document.documentElement),
    navigate,
    enter,
    toast,
    announce,
    drafts,
    signOut: endSession,
    lose,
    isSessionLost: () => lost,
    chat,
    seeReminders: () => reminders.seen(),
    clockReady() {
      clock ??= readClock()
      return clock
    },
  }
}
