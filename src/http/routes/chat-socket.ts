import type { z } from '@hono/zod-openapi'
import type { WebSocket } from 'ws'
import { LedgerUnavailable } from '../../../ledger/errors.ts'
import { isImport } from '../../../projections/timeline.ts'
import { toTimelineEvent } from '../../../projections/timeline-event.ts'
import { decodeCursor } from '../../../projections/timeline-page.ts'
import type { ReceivedMessage, TurnOutcome } from '../../agent/chat.ts'
import { msg } from '../../language/msg.ts'
import { parseJson } from '../../lib/parse-json.ts'
import {
  clientMessageSchema,
  type ServerMessage,
  serverMessageSchema,
  socket,
} from '../contract/chat-socket.ts'
import type { RouteDeps } from '../features.ts'
import type { Routes } from '../server/env.ts'
import { invalidCursor, invalidRequest, problemOf, Refusal } from '../server/problem.ts'
import type { SocketRoute } from '../server/sockets.ts'
import { takeMessage, turnRefusal } from './chat.ts'
import { requireEnded } from './conversations.ts'

const MAX_MESSAGE_BYTES = 1_048_576

/** Events pause while a slow tab has more than this unsent. They continue from the ledger. */
const MAX_BUFFERED_BYTES = 1_048_576

const DRAIN_CHECK_MS = 50

/** WebSocket close code for a server fault (RFC 6455, 7.4.1). */
const INTERNAL_ERROR = 1011

/** Documents the chat socket in the API reference. A plain request to its address gets 404. */
export function chatSocketReference(routes: Routes): void {
  routes.openAPIRegistry.register('ChatClientMessage', clientMessageSchema)
  routes.openAPIRegistry.register('ChatServerMessage', serverMessageSchema)
  routes.openAPIRegistry.registerPath(socket)
}

/** `/chat`: sends one browser tab the events of every channel as they happen. */
export function chatSocketRoute(deps: RouteDeps): SocketRoute {
  return {
    path: '/chat',
    maxMessageBytes: MAX_MESSAGE_BYTES,
    onOpen(socket, c) {
      const ended = new AbortController()
      socket.once('close', () => ended.abort())
      const session = serve(deps, socket, sinceOf(c.req.query('since')), ended.signal)
      socket.on('message', (data, isBinary) => session.receive(isBinary ? '' : String(data)))
    },
  }
}

/** The last event that a reconnecting tab has; null for a new tab. */
function sinceOf(since: string | undefined): number | null {
  return since !== undefined && /^\d{1,15}$/.test(since) ? Number(since) : null
}

/**
 * Serves one tab: the newest page (after a reconnect, only the missed events), then every event as it
 * happens. The relay continues where the page ends, which may be before the head while the views are behind.
 */
function serve(deps: RouteDeps, socket: WebSocket, sinceSeq: number | null, signal: AbortSignal) {
  const { storage, timeline, operations, phone, agent, owner, log } = deps
  const { previews, chat } = agent
  // A tab ahead of the ledger has events of another ledger, so it starts over.
  const isResumed = sinceSeq !== null && sinceSeq <= storage.ledger.head().seq
  let relayedSeq = isResumed ? sinceSeq : sendPage('initial', null)
  /** Messages of this tab whose events it does not have yet. */
  let received: (ReceivedMessage & { readonly clientMessageId: string })[] = []

  const current = previews.current()
  if (current) {
    send({ type: 'chat.working', turnId: current.turnId })
    if (current.text !== '') send({ type: 'chat.delta', turnId: current.turnId, text: current.text })
  }
  const unsubscribe = previews.subscribe((event) => {
    if (event.type === 'delta') send({ type: 'chat.delta', turnId: event.turnId, text: event.text })
    else send({ type: 'chat.working', turnId: event.turnId })
  })
  signal.addEventListener('abort', unsubscribe)
  const present = phone.live.current()
  if (present) send({ type: 'call.live', call: present })
  signal.addEventListener(
    'abort',
    phone.live.subscribe((call) => send({ type: 'call.live', call })),
  )
  relayEvents().catch((error: unknown) => {
    log.error({ err: error }, 'Could not relay events to a tab')
    storage.reportFault(error)
    socket.close(INTERNAL_ERROR, 'Reconnect.')
  })

  function send(message: ServerMessage): void {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(message))
  }

  function refuse(refusal: Refusal, turnId: string | null, clientMessageId: string | null = null): void {
    send({ type: 'chat.error', turnId, clientMessageId, problem: problemOf(refusal) })
  }

  /** A message with an id of its client is recorded once, so it can be sent again even if it was saved. */
  function unsavedText(error: unknown): string {
    const isUnsure = error instanceof LedgerUnavailable && error.isUnsure
    if (storage.mayAct())
      return isUnsure
        ? msg`It is not certain whether this was saved. Try again.`
        : msg`Nothing was saved. Try again.`
    const outcome = isUnsure ? msg`it is not certain whether this was saved` : msg`Delegate cannot save this`
    return msg`PostgreSQL does not answer, so ${outcome}. Try again later.`
  }

  async function relayEvents(): Promise<void> {
    for await (const event of storage.follow(relayedSeq, signal)) {
      relayedSeq = event.seq
      if (isImport(event)) continue
      send({ type: 'timeline.event', event: toTimelineEvent(event) })
      acknowledge()
      const { turnId, conversationId } = event
      if (turnId === null) continue
      if (event.type === 'chat.reply.sent' || (event.type === 'chat.reply.stopped' && !event.facts.reason)) {
        send({ type: 'chat.response', turnId, content: event.body?.text ?? '', conversationId })
      } else if (event.type === 'turn.failed') {
        // A failed activation does not answer a message.
        const failure = { kind: event.facts.kind, text: event.body?.text ?? '' }
        if (event.channel !== 'inner') refuse(turnRefusal(failure), turnId)
        send({ type: 'chat.done', turnId })
      } else if (event.type === 'turn.completed') {
        send({ type: 'chat.done', turnId })
      }
      while (socket.bufferedAmount > MAX_BUFFERED_BYTES && !signal.aborted) {
        await new Promise((resolve) => setTimeout(resolve, DRAIN_CHECK_MS))
      }
    }
  }

  /** Confirms messages once their events are sent. */
  function acknowledge(): void {
    const { told = [], untold = [] } = Object.groupBy(received, ({ seq }) =>
      seq <= relayedSeq ? 'told' : 'untold',
    )
    for (const { turnId, clientMessageId } of told)
      send({ type: 'message.received', turnId, clientMessageId })
    received = untold
  }

  function sendOutcome(outcome: TurnOutcome): void {
    const { turnId, conversationId, text } = outcome
    if (outcome.status === 'failed') refuse(turnRefusal(outcome), turnId)
    else send({ type: 'chat.response', turnId, content: text, conversationId })
    send({ type: 'chat.done', turnId })
  }

  /** Returns the last seq of the page, 0 for an empty one. */
  function sendPage(mode: 'initial' | 'prepend', cursor: ReturnType<typeof decodeCursor>): number {
    const page = timeline.page({
      limit: owner.settings.get('TIMELINE_PAGE_EVENTS'),
      cursor,
      conversationId: null,
    })
    operations.paging.count(page, mode === 'prepend')
    send({ type: 'history.page', mode, page })
    return page.events.at(-1)?.seq ?? 0
  }

  async function handle(message: z.output<typeof clientMessageSchema>): Promise<void> {
    switch (message.type) {
      case 'chat.message': {
        const relayedBefore = relayedSeq
        const taken = await takeMessage(deps, message)
        const { clientMessageId } = message
        if (clientMessageId !== undefined) received.push({ ...taken, clientMessageId })
        acknowledge()
        const end = chat.ended(taken)
        // The turn of a repeated message may have ended before, so no event will report its outcome.
        if (end && end.seq <= relayedBefore) sendOutcome(end.outcome)
        return
      }
      case 'chat.stop':
        agent.attention.stop(message.turnId)
        return
      case 'history.more': {
        const cursor = decodeCursor(message.cursor)
        if (!cursor) throw invalidCursor('cursor')
        sendPage('prepend', cursor)
        return
      }
      case 'conversation.end':
        requireEnded(await agent.endConversation(message.conversationId))
    }
  }

  return {
    receive(data: string): void {
      const parsed = clientMessageSchema.safeParse(parseJson(data))
      if (!parsed.success) {
        refuse(invalidRequest(parsed.error.issues), null)
        return
      }
      handle(parsed.data).catch((error: unknown) => {
        const clientMessageId =
          parsed.data.type === 'chat.message' ? (parsed.data.clientMessageId ?? null) : null
        if (error instanceof Refusal) return refuse(error, null, clientMessageId)
        log.error({ err: error }, 'A message on the chat socket failed')
        storage.reportFault(error)
        refuse(new Refusal(503, 'ledger_unavailable', unsavedText(error)), null, clientMessageId)
      })
    },
  }
}
