import type { App } from '../app/app.ts'
import { copyWithToast } from '../app/copy.ts'
import type { Erasing } from '../app/erase-dialog.ts'
import { plural } from '../design/format.ts'
import type { ChatSession } from './chat/session.ts'
import { wordsOf } from './event-kinds.ts'
import type { TimelineActions } from './row-context.ts'

/** The actions of timeline rows. */
export function createTimelineActions(options: {
  readonly app: App
  readonly session: ChatSession
  readonly erase: (erasing: Erasing) => void
  readonly say: (text: string) => void
  readonly explainTurn: (turnId: string) => void
  /** Called when the set of spans whose full text is being loaded changes. */
  readonly onLoading: (spanIds: ReadonlySet<string>) => void
}): TimelineActions & { endConversation(): Promise<void> } {
  const { app, session } = options
  const loading = new Set<string>()

  async function showAll(spanId: string): Promise<void> {
    loading.add(spanId)
    options.onLoading(new Set(loading))
    await app.attempt(async () => {
      const { events } = await app.http.get('/api/timeline/spans/{id}', { params: { id: spanId } })
      session.addEvents(events)
    })
    loading.delete(spanId)
    options.onLoading(new Set(loading))
  }

  return {
    copy: (text) => void copyWithToast(text, 'Copied', app.toast),
    showAll: ({ spanId }) => {
      if (spanId !== null) void showAll(spanId)
    },
    eraseEvent: ({ seq }) =>
      options.erase({ heading: 'Erase this message?', target: { kind: 'message', id: String(seq) } }),
    eraseSpan({ spanId }) {
      if (spanId === null) return
      const entries = session.segments
        .filter((segment) => segment.spanId === spanId)
        .flatMap((s) => s.entries)
      const messages = entries.filter(({ kind }) => kind === 'message').length
      const heading = `Erase this whole exchange of ${plural(messages, 'message')}?`
      options.erase({ heading, target: { kind: 'span', id: spanId } })
    },
    isErasurePending: (erasureId) => session.isErasurePending(erasureId),
    loadErasurePlan: async (id) => (await app.http.get('/api/erasures/{id}', { params: { id } })).plan,
    undoErasure: (id) => void app.attempt(() => app.http.post('/api/erasures/{id}/undo', { params: { id } })),
    retry: (clientMessageId) => session.outbox.retry(clientMessageId),
    discard: (clientMessageId) => session.outbox.discard(clientMessageId),
    sendTextAgain: (id) =>
      void app.attempt(async () => {
        await app.http.post('/api/outbound/texts/{id}/retry', { params: { id } })
        app.toast('Sending the text again.')
      }),
    resend({ turnId }) {
      const asked = session.segments
        .flatMap(({ entries }) => entries)
        .find((entry) => entry.kind === 'message' && entry.role === 'owner' && entry.event.turnId === turnId)
      if (asked?.kind === 'message') options.say(wordsOf(asked.event))
    },
    settle: async (id, word) => {
      await app.http.post(`/api/proposals/{id}/${word}`, { params: { id } })
    },
    loadMemories: async (turnId) =>
      (await app.http.get('/api/turns/{id}', { params: { id: turnId } })).memories,
    explainTurn: options.explainTurn,
    async endConversation() {
      const id = session.conversationId
      if (id === null) {
        app.toast('No conversation is open.')
        return
      }
      await app.attempt(async () => {
        await app.http.post('/api/conversations/{id}/end', { params: { id } })
        app.toast('Conversation ended. The next message starts a new one.')
      })
    },
  }
}
