import type { App } from '../app/app.ts'
import { copyText } from '../app/platform.ts'
import type { ChatSession } from '../chat/session.ts'
import { endConversation } from '../data/conversations.ts'
import { explain } from '../data/http.ts'
import { settleProposal } from '../data/proposals.ts'
import { eraseEvent, eraseSpan, fetchSpanEvents } from '../data/timeline.ts'
import { fetchTurn } from '../data/turns.ts'
import { wordsOf } from '../timeline/event-kinds.ts'
import type { Confirmation } from '../view/confirm-dialog.ts'
import { plural } from '../view/format.ts'
import type { TimelineActions } from '../view/row-context.ts'

const consequence =
  'Everything said there is gone for good, and so is everything that was learned or copied from it. That it was said stays on the timeline.'

/** What the rows of the timeline can do, carried out against the service. */
export function createTimelineActions(options: {
  readonly app: App
  readonly session: ChatSession
  readonly confirm: (confirmation: Confirmation) => void
  readonly say: (text: string) => void
  readonly explainTurn: (turnId: string) => void
  /** The spans whose whole text is on its way have changed. */
  readonly onLoading: (spanIds: ReadonlySet<string>) => void
}): TimelineActions & { endConversation(): Promise<void> } {
  const { app, session } = options
  const loading = new Set<string>()

  async function attempt(act: () => Promise<void>): Promise<void> {
    try {
      await act()
    } catch (error) {
      app.toast(explain(error), 'warning')
    }
  }

  function confirmErasing(heading: string, erase: () => Promise<void>): void {
    options.confirm({
      heading,
      text: consequence,
      action: 'Erase',
      run: async () => {
        await erase()
        app.toast('Erased')
      },
    })
  }

  async function copy(text: string): Promise<void> {
    if (await copyText(text)) app.toast('Copied')
    else app.toast('This browser did not allow copying.', 'warning')
  }

  async function showAll(spanId: string): Promise<void> {
    loading.add(spanId)
    options.onLoading(new Set(loading))
    await attempt(async () => session.addEvents(await fetchSpanEvents(app.http, spanId)))
    loading.delete(spanId)
    options.onLoading(new Set(loading))
  }

  return {
    copy: (text) => void copy(text),
    showAll: ({ spanId }) => {
      if (spanId !== null) void showAll(spanId)
    },
    eraseEvent: ({ seq }) => confirmErasing('Erase this message?', () => eraseEvent(app.http, seq)),
    eraseSpan({ spanId }) {
      if (spanId === null) return
      const entries = session.segments
        .filter((segment) => segment.spanId === spanId)
        .flatMap((s) => s.entries)
      const messages = entries.filter(({ kind }) => kind === 'message').length
      const heading = `Erase this whole exchange of ${plural(messages, 'message')}?`
      confirmErasing(heading, () => eraseSpan(app.http, spanId))
    },
    retry: (clientMessageId) => session.outbox.retry(clientMessageId),
    discard: (clientMessageId) => session.outbox.discard(clientMessageId),
    resend({ turnId }) {
      const asked = session.segments
        .flatMap(({ entries }) => entries)
        .find((entry) => entry.kind === 'message' && entry.role === 'owner' && entry.event.turnId === turnId)
      if (asked?.kind === 'message') options.say(wordsOf(asked.event))
    },
    settle: (proposalId, word) => settleProposal(app.http, proposalId, word),
    loadMemories: async (turnId) => (await fetchTurn(app.http, turnId)).memories,
    explainTurn: options.explainTurn,
    async endConversation() {
      const id = session.conversationId
      if (id === null) {
        app.toast('No conversation is open.')
        return
      }
      await attempt(async () => {
        await endConversation(app.http, id)
        app.toast('Conversation ended. The next message starts a new one.')
      })
    },
  }
}
