import type { ServerMessage } from '../../../../src/http/contract/chat-socket.ts'
import type { ProblemDocument } from '../../../../src/http/contract/problem.ts'
import type { TimelineEvent, TimelinePage } from '../../../../src/http/contract/timeline.ts'
import { newId } from '../../app/platform.ts'
import { classify, cutOf, isErased, isIncomplete, wordsOf } from '../event-kinds.ts'
import type { Preview } from '../rows.ts'
import { createTimelineStore, type TimelineStore } from '../store.ts'
import type { Segment } from '../tree.ts'
import { createLiveTalk } from './live-talk.ts'
import { createOutbox } from './outbox.ts'
import { createPreviews } from './previews.ts'
import { type ChatSocket, type Connection, type MayConnect, openChatSocket } from './socket.ts'

/** What is known about events older than the oldest loaded one. */
export type Older = 'unknown' | 'more' | 'loading' | 'failed' | 'none'

export type ChatSession = ReturnType<typeof createChatSession>

type Follower = (event: TimelineEvent, live: boolean) => void

type ChatSessionOptions = {
  readonly socketUrl: string
  readonly mayConnect: () => Promise<MayConnect>
  /** Called with errors that the timeline does not show. */
  readonly onProblem: (problem: ProblemDocument) => void
  readonly onReply: (text: string) => void
  readonly onMalformed: (error: unknown) => void
  /** Called with each new connection. */
  readonly onOpen: () => void
  /** The timeline as it was kept for when the service cannot be reached; null if it was not. */
  readonly readCopy: () => Promise<TimelinePage | null>
  /** Storage for this tab's messages until they are on the timeline. */
  readonly unsettled: Pick<Parameters<typeof createOutbox>[0], 'kept' | 'keep'>
}

/**
 * Silence after which the connection is replaced. Replacing a healthy one is harmless. Messages are
 * acknowledged at once, while a turn may wait for the model.
 */
const messagePatienceMs = 10_000
const turnPatienceMs = 45_000
const erasureEnds = new Set(['erasure.undone', 'erasure.completed'])
const turnEnds = new Set(['chat.reply.sent', 'chat.reply.stopped', 'turn.failed'])

/** The chat of this tab: its socket and events, and what is not an event yet (pending messages, previews). */
export function createChatSession(options: ChatSessionOptions) {
  let store = createTimelineStore()
  const listeners = new Set<() => void>()
  const followers = new Set<Follower>()
  const previews = createPreviews()
  const live = createLiveTalk()
  const outbox = createOutbox({
    send: ({ clientMessageId, text, pasted, model, replaces }) =>
      loaded &&
      socket.send({
        ...{ type: 'chat.message', content: text, clientMessageId, pasted: [...pasted] },
        ...(model ? { model } : {}),
        ...(replaces === undefined ? {} : { replaces }),
      }),
    kept: options.unsettled.kept,
    keep: options.unsettled.keep,
    changed,
    newId,
  })
  let connection: Connection = { state: 'connecting' }
  let loaded = false
  let older: Older = 'unknown'
  let cursor: string | null = null
  let notifying = false
  /** The turn to stop at the next connection. */
  let stopping: string | null = null
  /** An undone erasure restored words that this tab has dropped: reload from the first page. */
  let outdated = false
  /** A long reply's event is truncated. Held back until the service sends the whole text right after it. */
  let cutReply: TimelineEvent | null = null

  /** When something last arrived, or nothing was expected. */
  let heardAtMs = Date.now()
  const silenceTimer = setInterval(() => {
    const silentMs = Date.now() - heardAtMs
    if (silentMs < patienceMs()) return
    heardAtMs = Date.now()
    if (!socket.isUploading && patienceMs() > 0) socket.restart()
  }, 1000)

  /** How long a silence may last; 0 while nothing is expected. */
  function patienceMs(): number {
    if (connection.state !== 'open') return 0
    if (isWorking(store, previews.list)) return turnPatienceMs
    const isExpecting = older === 'loading' || outbox.pending.some(({ status }) => status === 'sent')
    return isExpecting ? messagePatienceMs : 0
  }

  function changed(): void {
    if (notifying) return
    notifying = true
    queueMicrotask(() => {
      notifying = false
      for (const listener of listeners) listener()
    })
  }

  function add(events: readonly TimelineEvent[]): void {
    for (const event of events) {
      live.add(event)
      if (event.turnId !== null && turnEnds.has(event.type)) previews.end(event.turnId)
    }
    store.add(events)
    changed()
  }

  function receive(message: ServerMessage): void {
    switch (message.type) {
      case 'history.page':
        if (message.mode === 'initial') takeInitial(message.page)
        else takeOlder(message.page)
        return
      case 'timeline.event':
        if (isReply(message.event) && cutOf(message.event)) cutReply = message.event
        else takeEvent(message.event)
        return
      case 'message.received':
        outbox.remove(message.clientMessageId)
        break
      case 'call.live':
        live.update(message.call)
        break
      case 'chat.working':
        previews.replace(message.turnId, '')
        break
      case 'chat.delta':
        previews.append(message.turnId, message.text)
        break
      case 'chat.response':
        previews.replace(message.turnId, message.content)
        if (cutReply?.turnId === message.turnId) takeEvent(withText(cutReply, message.content))
        break
      case 'chat.done':
        previews.end(message.turnId)
        break
      case 'chat.error':
        takeError(message)
    }
    changed()
  }

  function takeEvent(event: TimelineEvent): void {
    cutReply = null
    add([event])
    takeErasure(event)
    if (event.type === 'chat.reply.sent') options.onReply(wordsOf(event))
    for (const follower of followers) follower(event, true)
  }

  /** Only for live events. Pages already reflect all erasures. */
  function takeErasure({ type, payload }: TimelineEvent): void {
    if (type === 'erasure.requested' && Array.isArray(payload.seqs)) {
      store.hide(payload.seqs.filter((seq: unknown) => typeof seq === 'number'))
    }
    if (type !== 'erasure.undone') return
    outdated = true
    socket.restart()
  }

  /** After a reconnect, the service sends a first page only if this tab's events are from another ledger. */
  function takeInitial(page: TimelinePage): void {
    if (loaded) {
      store = createTimelineStore()
      previews.clear()
    }
    loaded = true
    outdated = false
    takeOlder(page)
    outbox.flush()
    // These may have happened between a follower's own fetch and the connection.
    for (const event of page.events) for (const follower of followers) follower(event, false)
  }

  /** The socket then asks for what came after the copy. */
  async function showCopy(): Promise<void> {
    const page = await options.readCopy()
    if (page && !loaded) takeInitial(page)
    changed()
  }

  function takeOlder(page: TimelinePage): void {
    cursor = page.nextCursor
    older = page.hasMore && page.nextCursor !== null ? 'more' : 'none'
    // Before its own events, a page has older ones that only complete spans, with gaps between them.
    const wholeFromSeq = page.hasMore ? page.events[page.expandedEvents]?.seq : 0
    if (wholeFromSeq !== undefined) store.setWholeFrom(wholeFromSeq)
    add(page.events)
  }

  function takeError({
    turnId,
    clientMessageId,
    problem,
  }: Extract<ServerMessage, { type: 'chat.error' }>): void {
    // The timeline shows failed turns itself.
    if (turnId !== null) previews.end(turnId)
    else if (problem.code === 'invalid_cursor') older = 'failed'
    else if (!outbox.fail(clientMessageId, problem.detail)) options.onProblem(problem)
  }

  function connected(next: Connection): void {
    const opened = next.state === 'open' && connection.state !== 'open'
    connection = next
    if (next.state !== 'open') {
      previews.interrupt()
      cutReply = null
      outbox.wait()
      live.update(null)
      if (older === 'loading') older = 'failed'
    }
    if (opened) options.onOpen()
    if (opened && stopping !== null) socket.send({ type: 'chat.stop', turnId: stopping })
    if (opened) stopping = null
    if (opened && loaded) outbox.flush()
    if (next.state === 'waiting' && !loaded) void showCopy()
    changed()
  }

  const socket: ChatSocket = openChatSocket({
    url: () =>
      store.lastSeq > 0 && !outdated ? `${options.socketUrl}?since=${store.lastSeq}` : options.socketUrl,
    mayConnect: options.mayConnect,
    onHeard: () => {
      heardAtMs = Date.now()
    },
    onMessage: receive,
    onConnection: connected,
    onMalformed: options.onMalformed,
  })

  return {
    get connection(): Connection {
      return connection
    },
    /** True once the first page has arrived. */
    get loaded(): boolean {
      return loaded
    },
    get older(): Older {
      return older
    },
    /** From this `seq` on, all events are loaded. */
    get wholeFromSeq(): number {
      return store.wholeFromSeq
    },
    get segments(): readonly Segment[] {
      return store.tree
    },
    get previews(): readonly Preview[] {
      return previews.list
    },
    /** The call in progress. */
    live,
    /** True while a turn of the owner is being answered. */
    get working(): boolean {
      return isWorking(store, previews.list)
    },
    /** The open conversation, according to the loaded events. */
    get conversationId(): string | null {
      return openConversation(store)
    },
    /** The owner's last message, if it can be changed or answered again; else null. */
    get lastMessage(): TimelineEvent | null {
      return lastMessage(store)
    },
    /** Cursor of the next older page; null if there is none. */
    get cursor(): string | null {
      return cursor
    },
    /** False once this tab has seen the erasure completed or undone. */
    isErasurePending: (id: string): boolean =>
      !store.events.some(({ type, payload }) => erasureEnds.has(type) && payload.erasureId === id),
    isBarred: store.isBarred,
    reminderState: (event: TimelineEvent) => store.reminderState(event),
    outbox,
    /** Stops what runs; without a connection, the reply that was being written, at the next one. */
    stop(): void {
      if (!socket.send({ type: 'chat.stop' })) stopping = previews.list.at(-1)?.turnId ?? null
    },
    loadOlder(): void {
      if (cursor === null || older === 'loading' || older === 'none') return
      older = socket.send({ type: 'history.more', cursor }) ? 'loading' : 'failed'
      changed()
    },
    /** Adds the page before `cursor`, when fetched over HTTP instead of the socket. */
    addOlderPage: takeOlder,
    addEvents: add,
    /** If disconnected, reconnects at once. */
    retryNow: () => socket.retryNow(),
    /** Replaces the connection. After sleep or a network change, an open one may be dead. */
    restart: () => socket.restart(),
    /** Calls back in a microtask, once per burst of changes. Returns an unsubscribe function. */
    subscribe(listener: () => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    /**
     * Calls back with each event of any channel as it happens. Also calls back with the events of a first page,
     * with `live` false, because they may be new to the caller. Returns an unsubscribe function.
     */
    follow(listener: Follower): () => void {
      followers.add(listener)
      return () => followers.delete(listener)
    },
    close(): void {
      clearInterval(silenceTimer)
      outbox.close()
      listeners.clear()
      followers.clear()
      socket.close()
    },
  }
}

/** True for events that the service follows with their whole text. */
function isReply(event: TimelineEvent): boolean {
  const { type, turnId } = event
  return (
    turnId !== null && (type === 'chat.reply.sent' || type === 'chat.reply.stopped') && !isIncomplete(event)
  )
}

function withText(event: TimelineEvent, text: string): TimelineEvent {
  const { excerpt: _excerpt, bytes: _bytes, ...rest } = event.payload
  return { ...event, payload: { ...rest, text } }
}

/** A turn that began before the page was loaded has no preview, but a running activity. */
function isWorking(store: TimelineStore, previews: readonly Preview[]): boolean {
  if (previews.length > 0) return true
  return store.tree.some(
    ({ kind, entries }) =>
      kind === 'interaction' && entries.some((entry) => entry.kind === 'activity' && entry.running),
  )
}

/** Skips internal events: they may follow the end of a conversation. */
function openConversation(store: TimelineStore): string | null {
  const last = store.events.findLast((event) => event.conversationId !== null && !event.internal)
  return last && last.type !== 'conversation.ended' ? last.conversationId : null
}

function lastMessage(store: TimelineStore): TimelineEvent | null {
  const last = store.events.findLast((event) => {
    const is = classify(event)
    return is.kind === 'message' && is.role === 'owner'
  })
  if (last?.type !== 'chat.message.received' || last.turnId === null || isErased(last)) return null
  return last.conversationId === openConversation(store) ? last : null
}
