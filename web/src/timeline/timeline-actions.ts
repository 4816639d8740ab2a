import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import type { App } from '../app/app.ts'
import type { Confirmation } from '../app/confirm-dialog.ts'
import { copyWithToast } from '../app/copy.ts'
import type { Erasing } from '../app/erase-dialog.ts'
import { listText, plural } from '../design/format.ts'
import type { MenuItem } from '../design/menu.ts'
import { msg } from '../design/msg.ts'
import { tickOff } from '../timers/settle.ts'
import { effectsOf, turnOf } from './branches.ts'
import type { ChatSession } from './chat/session.ts'
import { cutOf, isIncomplete } from './event-kinds.ts'
import { type Draft, draftOf } from './pasted.ts'
import type { Reminder } from './reminder-states.ts'
import { titleOf } from './titles.ts'
import type { Segment } from './tree.ts'

/** What a button allows: five dollars. */
const ANOTHER_MICROS = 5_000_000

export type TimelineActions = ReturnType<typeof createTimelineActions>

/** What rows of the timeline and the menu of its page do. */
export function createTimelineActions(options: {
  readonly app: App
  readonly session: ChatSession
  readonly erase: (erasing: Erasing) => void
  readonly confirm: (confirmation: Confirmation) => void
  readonly say: (draft: Draft) => void
  /** Puts a message into the field, to replace the last one. */
  readonly edit: (draft: Draft) => void
  readonly explainTurn: (turnId: string) => void
  readonly snoozeItems: (reminder: Reminder) => MenuItem[]
}) {
  const { app, session } = options
  const spanEvents = async (id: string) =>
    (await app.http.get('/api/timeline/spans/{id}', { params: { id } })).events

  /** The event with its full body, which a page cuts if it is long. */
  async function wholeOf(event: TimelineEvent): Promise<TimelineEvent> {
    if (event.spanId === null || !cutOf(event)) return event
    return (await spanEvents(event.spanId)).find(({ seq }) => seq === event.seq) ?? event
  }

  /** Resends the message of a failed turn. */
  function resend({ turnId }: TimelineEvent): void {
    const asked = session.segments
      .flatMap(({ entries }) => entries)
      .find((entry) => entry.kind === 'message' && entry.role === 'owner' && entry.event.turnId === turnId)
    if (asked?.kind !== 'message') return
    void app.attempt(async () => options.say(draftOf(await wholeOf(asked.event))))
  }

  /** Takes the owner's last message, to be sent in place of itself, unless one is being sent. */
  async function takeLast(take: (draft: Draft) => void): Promise<void> {
    const last = session.lastMessage
    if (!last?.turnId) return
    const whole = await wholeOf(last)
    // Checked after the wait, in which a second click may have sent it.
    if (session.lastMessage !== last || session.outbox.pending.some(({ status }) => status !== 'failed'))
      return
    take({ ...draftOf(whole), replaces: last.turnId })
  }

  /** Asks for another answer. The new turn does not know what the old one did, so the owner confirms it. */
  function askAgain(): void {
    const again = () => takeLast(options.say)
    const entries = session.segments.flatMap((segment) => segment.entries)
    const done = effectsOf(entries.filter((entry) => turnOf(entry) === session.lastMessage?.turnId))
    if (done.length === 0) void app.attempt(again)
    else
      options.confirm({
        heading: msg`Ask for another answer?`,
        content: msg`Done already: ${listText(done.map(titleOf))}. This stays, and may be done a second time.`,
        action: msg`Try again`,
        look: 'primary',
        run: again,
      })
  }

  /** Stops what is being read aloud. */
  let stopReading = (): void => undefined

  return {
    app,
    /** Whether it is the owner's last message. */
    mayEdit: ({ seq }: TimelineEvent) => session.lastMessage?.seq === seq,
    edit: () => void app.attempt(() => takeLast(options.edit)),
    /** Whether it is the reply to that message. After a failure, that offers it. */
    mayAskAgain: (event: TimelineEvent) =>
      event.type.startsWith('chat.reply.') &&
      event.turnId !== null &&
      session.lastMessage?.turnId === event.turnId &&
      !isIncomplete(event),
    askAgain,
    copy: (text: string) => void copyWithToast(text, msg`Copied`, app.toast),
    copyLink: ({ seq }: TimelineEvent) =>
      void copyWithToast(`${location.origin}/?seq=${seq}`, msg`Link copied`, app.toast),
    /** Reads a message of the delegate aloud, in place of any other. */
    readAloud: ({ seq }: TimelineEvent) =>
      void app.attempt(async () => {
        const { readAloud } = await import('../talk/read-aloud.ts')
        stopReading()
        stopReading = readAloud(app, seq)
      }),
    /** Loads the full body of an event that was cut. */
    showAll: ({ spanId }: TimelineEvent) =>
      app.attempt(async () => {
        if (spanId === null) return
        session.addEvents(await spanEvents(spanId))
      }),
    eraseEvent: ({ seq }: TimelineEvent) =>
      options.erase({ heading: msg`Erase this message?`, target: { kind: 'message', id: String(seq) } }),
    /** Keeps a message after all that the delegate took as not to be kept. */
    keepMessage: ({ seq }: TimelineEvent) =>
      void app.attempt(async () => {
        await app.http.post('/api/timeline/events/{seq}/keep', { params: { seq } })
        app.toast(msg`Delegate may remember this message again.`)
      }),
    eraseSpan({ spanId }: Segment) {
      if (spanId === null) return
      const entries = session.segments
        .filter((segment) => segment.spanId === spanId)
        .flatMap((s) => s.entries)
      const messages = entries.filter(({ kind }) => kind === 'message').length
      const heading = msg`Erase this whole exchange of ${plural(messages, msg`message`, msg`messages`)}?`
      options.erase({ heading, target: { kind: 'span', id: spanId } })
    },
    isErasurePending: session.isErasurePending,
    isBarred: session.isBarred,
    reminderState: session.reminderState,
    tickOff: (reminder: Reminder) => void app.attempt(() => tickOff(app, reminder)),
    snoozeItems: options.snoozeItems,
    undoErasure: (id: string) =>
      void app.attempt(() => app.http.post('/api/erasures/{id}/undo', { params: { id } })),
    retry: session.outbox.retry,
    discard: session.outbox.remove,
    /** Resends a failed text message. */
    sendTextAgain: (id: string) =>
      void app.attempt(async () => {
        await app.http.post('/api/outbound/texts/{id}/retry', { params: { id } })
        app.toast(msg`Sending the text again.`)
      }),
    /** Allows more money for 24 hours, then resends the message of the failed turn. */
    allowMore: (event: TimelineEvent) =>
      void app.attempt(async () => {
        await app.http.post('/api/allowance/raise', { body: { amountMicros: ANOTHER_MICROS } })
        resend(event)
      }),
    resend,
    explainTurn: options.explainTurn,
    async endConversation() {
      const id = session.conversationId
      if (id === null) {
        app.toast(msg`No conversation is open.`)
        return
      }
      await app.attempt(async () => {
        await app.http.post('/api/conversations/{id}/end', { params: { id } })
        app.toast(msg`Conversation ended. The next message starts a new one.`)
      })
    },
  }
}
