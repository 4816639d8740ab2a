import type { ServerMessage } from '../data/chat.ts'
import type { Problem } from '../data/problem.ts'
import type { TimelineEvent, TimelinePage } from '../data/timeline.ts'
import { wordsOf } from '../timeline/event-kinds.ts'
import type { Draft, Pending } from '../timeline/rows.ts'
import { createTimelineStore, type TimelineStore } from '../timeline/store.ts'
import type { Segment } from '../timeline/tree.ts'
import { type ChatSocket, type Connection, openChatSocket } from './socket.ts'

/** What is known of the past beyond the oldest event that was loaded. */
export type Older = 'unknown' | 'more' | 'loading' | 'failed' | 'none'

export type ChatSession = {
  readonly connection: Connection
  /** The first page is there. */
  readonly loaded: boolean
  readonly older: Older
  readonly oldestSeq: number
  readonly segments: readonly Segment[]
  readonly drafts: readonly Draft[]
  readonly pending: readonly Pending[]
  /** A turn of the owner's is being answered. */
  readonly working: boolean
  /** The conversation that is open, as far as the timeline says. */
  readonly conversationId: string | null
  event(seq: number): TimelineEvent | undefined
  cursor(): string | null

  send(text: string): void
  retry(clientMessageId: string): void
  discard(clientMessageId: string): void
  stop(): void
  loadOlder(): void
  /** Takes in a page that was fetched otherwise than over the socket: the one before `cursor()`. */
  addOlderPage(page: TimelinePage): void
  addEvents(events: readonly TimelineEvent[]): void
  retryNow(): void
  /** After sleep or a change of network: a connection that looks open may be dead. */
  restart(): void
  /** Calls back after each change, in one microtask however many changes there were. Returns its own end. */
  subscribe(listener: () => void): () => void
  close(): void
}

/** A sent message of which nothing is heard for this long is offered for a retry; retrying is idempotent. */
const unheardAfterMs = 20_000
const olderTimeoutMs = 15_000

/**
 * The one conversation of this tab: the socket, every event that came over it, and what is not an event yet
 * (messages on their way, replies being written).
 */
export function createChatSession(options: {
  readonly socketUrl: string
  readonly mayConnect: () => Promise<boolean>
  readonly onProblem: (problem: Problem) => void
  readonly onReply: (text: string) => void
  readonly onMalformed: (error: unknown) => void
  readonly newId: () => string
  readonly random: () => number
  readonly nowMs: () => number
}): ChatSession {
  let store = createTimelineStore()
  const listeners = new Set<() => void>()
  const drafts = new Map<string, { text: string; whole: boolean }>()
  /** Turns of which everything was heard: a late delta must not bring their draft back. */
  const ended = new Set<string>()
  let pending: readonly Pending[] = []
  let connection: Connection = { state: 'connecting' }
  let loaded = false
  let older: Older = 'unknown'
  let cursor: string | null = null
  let draftList: readonly Draft[] | null = null
  let notifying = false
  let olderTimer: ReturnType<typeof setTimeout> | undefined

  function changed(): void {
    draftList = null
    if (notifying) return
    notifying = true
    queueMicrotask(() => {
      notifying = false
      for (const listener of listeners) listener()
    })
  }

  function add(events: readonly TimelineEvent[]): void {
    for (const event of events) {
      if (event.type === 'chat.message.received') settlePending(event)
      if (event.turnId !== null && turnEnds.has(event.type)) {
        drafts.delete(event.turnId)
        ended.add(event.turnId)
      }
    }
    store.add(events)
    changed()
  }

  /** The event of a message of ours is there: by the id where the service names it, else by its words. */
  function settlePending(event: TimelineEvent): void {
    if (store.get(event.seq)) return
    const named = event.payload.clientMessageId
    const words = wordsOf(event).trim()
    const match =
      typeof named === 'string'
        ? pending.find((message) => message.clientMessageId === named)
        : pending.find((message) => words !== '' && message.text.startsWith(words))
    if (match) pending = pending.filter((message) => message !== match)
  }

  function receive(message: ServerMessage): void {
    switch (message.type) {
      case 'history.page':
        if (message.mode === 'initial') takeInitial(message.page)
        else takeOlder(message.page)
        return
      case 'timeline.event':
        add([message.event])
        if (message.event.type === 'chat.reply.sent') options.onReply(wordsOf(message.event))
        return
      case 'chat.working':
        if (!ended.has(message.turnId)) drafts.set(message.turnId, { text: '', whole: true })
        break
      case 'chat.delta': {
        const draft = drafts.get(message.turnId)
        if (ended.has(message.turnId) || draft?.whole === false) return
        drafts.set(message.turnId, { text: (draft?.text ?? '') + message.text, whole: true })
        break
      }
      case 'chat.response':
        if (ended.has(message.turnId)) return
        drafts.set(message.turnId, { text: message.content, whole: true })
        break
      case 'chat.done':
        ended.add(message.turnId)
        drafts.delete(message.turnId)
        break
      case 'chat.error':
        takeError(message)
    }
    changed()
  }

  /** After a reconnect the service begins anew only where what this tab has is of another ledger. */
  function takeInitial(page: TimelinePage): void {
    if (loaded) {
      store = createTimelineStore()
      drafts.clear()
      ended.clear()
    }
    loaded = true
    takeOlder(page)
  }

  function takeOlder(page: TimelinePage): void {
    clearTimeout(olderTimer)
    cursor = page.nextCursor
    older = page.hasMore && page.nextCursor !== null ? 'more' : 'none'
    add(page.events)
  }

  function takeError(error: Extract<ServerMessage, { type: 'chat.error' }>): void {
    if (error.turnId !== null) {
      drafts.delete(error.turnId)
      ended.add(error.turnId)
    }
    // The timeline itself shows a turn that failed.
    if (error.turnId !== null) return
    if (error.problem.code === 'invalid_cursor') {
      older = 'failed'
      return
    }
    const failed =
      pending.find((message) => message.clientMessageId === error.clientMessageId) ??
      pending.find((message) => message.status === 'sent')
    if (failed) update(failed.clientMessageId, { status: 'failed', reason: error.problem.detail })
    else options.onProblem(error.problem)
  }

  function update(clientMessageId: string, change: Partial<Pending>): void {
    pending = pending.map((message) =>
      message.clientMessageId === clientMessageId ? { ...message, ...change } : message,
    )
    changed()
  }

  function transmit({ clientMessageId, text }: Pending): void {
    if (!loaded || !socket.send({ type: 'chat.message', content: text, clientMessageId })) {
      update(clientMessageId, { status: 'waiting', reason: null })
      return
    }
    update(clientMessageId, { status: 'sent', reason: null })
    setTimeout(() => {
      const still = pending.find((message) => message.clientMessageId === clientMessageId)
      if (still?.status === 'sent' && connection.state === 'open' && drafts.size === 0 && !isWorking()) {
        update(clientMessageId, { status: 'failed', reason: 'No answer from the service yet.' })
      }
    }, unheardAfterMs)
  }

  function connected(next: Connection): void {
    const opened = next.state === 'open' && connection.state !== 'open'
    connection = next
    if (next.state === 'waiting') {
      // What was said while we were away is missing from a draft: it waits for the whole reply.
      for (const [turnId, draft] of drafts) drafts.set(turnId, { ...draft, whole: false })
      if (older === 'loading') older = 'failed'
    }
    // Sending again is safe: the service runs a clientMessageId once.
    if (opened && loaded) for (const message of pending) if (message.status !== 'failed') transmit(message)
    changed()
  }

  function isWorking(): boolean {
    if (drafts.size > 0) return true
    // A turn that began before this page was loaded: its activity runs, near the end of the timeline.
    return store.tree
      .slice(-20)
      .some((segment) =>
        segment.entries.some(
          (entry) => entry.kind === 'activity' && entry.running && segment.kind === 'interaction',
        ),
      )
  }

  const socket: ChatSocket = openChatSocket({
    url: () => (store.lastSeq > 0 ? `${options.socketUrl}?since=${store.lastSeq}` : options.socketUrl),
    mayConnect: options.mayConnect,
    onMessage: (message) => {
      const first = !loaded
      receive(message)
      if (first && loaded) for (const waiting of pending) transmit(waiting)
    },
    onConnection: connected,
    onMalformed: options.onMalformed,
    random: options.random,
    nowMs: options.nowMs,
  })

  return {
    get connection() {
      return connection
    },
    get loaded() {
      return loaded
    },
    get older() {
      return older
    },
    get oldestSeq() {
      return store.firstSeq
    },
    get segments() {
      return store.tree
    },
    get drafts() {
      draftList ??= [...drafts].map(([turnId, draft]) => ({ turnId, text: draft.text }))
      return draftList
    },
    get pending() {
      return pending
    },
    get working() {
      return isWorking()
    },
    get conversationId() {
      return openConversation(store)
    },
    event: (seq) => store.get(seq),
    cursor: () => cursor,

    send(text) {
      const message: Pending = {
        clientMessageId: options.newId(),
        text,
        at: new Date(options.nowMs()).toISOString(),
        status: 'waiting',
        reason: null,
      }
      pending = [...pending, message]
      transmit(message)
    },
    retry(clientMessageId) {
      const message = pending.find((candidate) => candidate.clientMessageId === clientMessageId)
      if (message) transmit(message)
    },
    discard(clientMessageId) {
      pending = pending.filter((message) => message.clientMessageId !== clientMessageId)
      changed()
    },
    stop() {
      socket.send({ type: 'chat.stop' })
    },
    loadOlder() {
      if (cursor === null || older === 'loading' || older === 'none') return
      older = socket.send({ type: 'history.more', cursor }) ? 'loading' : 'failed'
      clearTimeout(olderTimer)
      olderTimer = setTimeout(() => {
        if (older !== 'loading') return
        older = 'failed'
        changed()
      }, olderTimeoutMs)
      changed()
    },
    addOlderPage: takeOlder,
    addEvents: add,
    retryNow: () => socket.retryNow(),
    restart: () => socket.restart(),
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close() {
      clearTimeout(olderTimer)
      listeners.clear()
      socket.close()
    },
  }
}

const turnEnds = new Set(['chat.reply.sent', 'chat.reply.stopped', 'turn.failed'])

/** Internal work on a conversation may follow its end, and says nothing of whether it is open. */
function openConversation(store: TimelineStore): string | null {
  const last = store.findLast((event) => event.conversationId !== null && !event.internal)
  return last && last.type !== 'conversation.ended' ? last.conversationId : null
}
