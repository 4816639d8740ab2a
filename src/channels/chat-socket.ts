import * as z from 'zod'
import type { LedgerReader } from '../../ledger/reader.ts'
import { toTimelineEvent } from '../../projections/timeline-event.ts'
import {
  decodeCursor,
  encodeCursor,
  type TimelinePage,
  type TimelineQueries,
} from '../../projections/timeline-page.ts'
import type { Previews } from '../conversation/previews.ts'
import type { ChatChannel, TurnOutcome } from './chat.ts'

/** What a browser may say on the chat socket. */
export const clientMessageSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('chat.message'),
    content: z.string().trim().min(1).max(100_000),
    clientMessageId: z.string().min(1).max(200).optional(),
  }),
  z.object({ type: z.literal('chat.stop') }),
  z.object({ type: z.literal('history.more'), cursor: z.string().max(64) }),
  z.object({ type: z.literal('conversation.end'), conversationId: z.string().max(200).optional() }),
])

/** A problem in the words of the HTTP contract. */
export type SocketProblem = {
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
}

export type ServerMessage =
  | { readonly type: 'history.page'; readonly mode: 'initial' | 'prepend'; readonly page: TimelinePage }
  | { readonly type: 'chat.working'; readonly turnId: string }
  | { readonly type: 'chat.delta'; readonly turnId: string; readonly text: string }
  | {
      readonly type: 'chat.response'
      readonly turnId: string
      readonly content: string
      readonly conversationId: string
    }
  | { readonly type: 'chat.done'; readonly turnId: string }
  | { readonly type: 'chat.error'; readonly turnId: string | null; readonly problem: SocketProblem }
  | { readonly type: 'timeline.event'; readonly event: ReturnType<typeof toTimelineEvent> }

/** One browser tab on `/chat`, above the socket itself. */
export type ChatSocketOptions = {
  readonly send: (message: ServerMessage) => void
  /** Resolves when the peer has taken what was sent, so that a slow tab is not fed into memory without bound. */
  readonly drained: () => Promise<void>
  readonly ledger: LedgerReader
  readonly follow: (
    fromSeq: number,
    signal: AbortSignal,
  ) => AsyncGenerator<Parameters<typeof toTimelineEvent>[0]>
  readonly timeline: TimelineQueries
  readonly onPage: (mode: 'initial' | 'prepend', page: TimelinePage) => void
  readonly pageEvents: () => number
  readonly previews: Previews
  readonly chat: ChatChannel
  readonly stop: () => boolean
  readonly endConversation: (conversationId: string | undefined) => Promise<SocketProblem | null>
  readonly onFault: (error: unknown) => void
  /** The last event that the tab has; null for a fresh one, which is given the newest page first. */
  readonly sinceSeq: number | null
  readonly signal: AbortSignal
}

/**
 * Serves one tab: the newest page (or, on a reconnect, just what it missed), then every event as it happens.
 * `receive` takes what the tab says. The page is read at a known head and the follower starts from there, so
 * nothing falls between the two.
 */
export function serveChatSocket(options: ChatSocketOptions): { receive(data: string): void } {
  const { send, ledger, timeline, previews, chat, signal, onFault } = options
  const headSeq = ledger.head().seq
  // A client that claims to be ahead of the ledger has another ledger's events: it starts over.
  const resumed = options.sinceSeq !== null && options.sinceSeq <= headSeq
  const fromSeq = resumed && options.sinceSeq !== null ? options.sinceSeq : headSeq
  if (!resumed) sendPage('initial', null)

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
  relayEvents().catch(onFault)

  async function relayEvents(): Promise<void> {
    for await (const event of options.follow(fromSeq, signal)) {
      send({ type: 'timeline.event', event: toTimelineEvent(event) })
      if (event.turnId !== null) {
        if ((event.type === 'chat.reply.sent' || event.type === 'chat.reply.stopped') && event.body) {
          const { turnId, conversationId } = event
          send({
            type: 'chat.response',
            turnId,
            content: event.body.text,
            conversationId: conversationId ?? '',
          })
        } else if (event.type === 'turn.failed') {
          send({
            type: 'chat.error',
            turnId: event.turnId,
            problem: turnProblem(event.facts.kind, event.body?.text ?? ''),
          })
          send({ type: 'chat.done', turnId: event.turnId })
        } else if (event.type === 'turn.completed') {
          send({ type: 'chat.done', turnId: event.turnId })
        }
      }
      await options.drained()
    }
  }

  function sendPage(mode: 'initial' | 'prepend', cursor: ReturnType<typeof decodeCursor>): void {
    // The newest page ends at the head that the follower goes on from, even if the ledger has moved since.
    const at = cursor ?? decodeCursor(encodeCursor({ beforeSeq: headSeq + 1, asOfSeq: headSeq }))
    const page = timeline.page({ limit: options.pageEvents(), cursor: at, conversationId: null })
    options.onPage(mode, page)
    send({ type: 'history.page', mode, page })
  }

  async function handle(data: string): Promise<void> {
    const parsed = clientMessageSchema.safeParse(parseJson(data))
    if (!parsed.success) {
      const detail = parsed.error.issues
        .map((issue) => `${issue.path.join('.')}: ${issue.message}`)
        .join('; ')
      return send({
        type: 'chat.error',
        turnId: null,
        problem: problem(400, 'invalid_message', 'Malformed message', detail),
      })
    }
    const message = parsed.data
    switch (message.type) {
      case 'chat.message': {
        await chat.receive(message.content, message.clientMessageId)
        return
      }
      case 'chat.stop':
        options.stop()
        return
      case 'history.more': {
        const cursor = decodeCursor(message.cursor)
        if (cursor) return sendPage('prepend', cursor)
        return send({
          type: 'chat.error',
          turnId: null,
          problem: problem(400, 'invalid_cursor', 'Malformed cursor', ''),
        })
      }
      case 'conversation.end': {
        const refused = await options.endConversation(message.conversationId)
        if (refused) send({ type: 'chat.error', turnId: null, problem: refused })
      }
    }
  }

  return {
    receive(data) {
      handle(data).catch((error: unknown) => {
        onFault(error)
        const detail = 'Nothing was kept of the message; try again.'
        send({
          type: 'chat.error',
          turnId: null,
          problem: problem(503, 'ledger_unavailable', 'Not recorded', detail),
        })
      })
    },
  }
}

/** A failed turn as a problem: the model service's failures are 502, the service's own 500. */
export function turnProblem(kind: string, detail: string): SocketProblem {
  const own = kind === 'internal' || kind === 'interrupted'
  return problem(own ? 500 : 502, own ? `turn_${kind}` : `model_${kind}`, 'The turn failed', detail)
}

/** The problem that a failed outcome is told as; null for one that ended well. */
export function problemOf(outcome: TurnOutcome): SocketProblem | null {
  return outcome.status === 'failed' ? turnProblem(outcome.kind, outcome.text) : null
}

function problem(status: number, code: string, title: string, detail: string): SocketProblem {
  return { title, status, detail, code }
}

function parseJson(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    // The schema refuses null, and says what a message looks like.
    return null
  }
}
