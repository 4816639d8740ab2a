import { tellDay, tellMoment, tellShort } from './local-time.ts'
import type { Present } from './plan.ts'
import { type HitResult, listsOf, type TimerResult, thingsOf } from './results.ts'
import type { Done, ToolOutcome } from './situation.ts'
import { capitalise } from './text.ts'
import { bullets, FORGOTTEN, HAD_FORGOTTEN, quote, shorten } from './wording.ts'

const MAX_NOTE_CHARS = 1000
const MAX_LINE_CHARS = 160
const MAX_LINES = 10

type Teller = (
  outcome: ToolOutcome,
  context: { present: Present; remark: string | undefined; args: unknown },
) => string

/** A result in words. `remark` is what the plan adds, such as a recurrence in words. */
export function tell(done: Done, present: Present, remark?: string): string {
  if (!done.result.ok) return whyNot(done.result)
  const teller = TELLERS[done.name]
  return teller ? teller(done.result, { present, remark, args: done.args }) : 'Done.'
}

const REASONS: Readonly<Record<string, string>> = {
  not_found: 'I find nothing like that.',
  ambiguous: 'Several things match that. Please say more exactly which one you mean.',
  past: 'That moment is over.',
  stale: 'That was changed meanwhile. Please try again.',
}

/** As zod says it of a text. */
const TOO_LONG = /Too big: expected string to have <=(\d+) characters/

function whyNot({ reason = '', message }: ToolOutcome): string {
  if (reason === 'invalid_arguments') {
    const longest = TOO_LONG.exec(message ?? '')?.[1]
    return longest === undefined
      ? 'I cannot do it with these words.'
      : `That is too long: I can take up to ${longest} characters for that. A note holds more.`
  }
  return message ?? REASONS[reason] ?? 'That did not work.'
}

const CHANNELS: Readonly<Record<string, string>> = {
  chat: 'here in the chat',
  sms: 'by text message',
  webhook: 'by your webhook',
}

const TELLERS: Readonly<Record<string, Teller>> = {
  remember(outcome) {
    const { memory } = thingsOf(outcome)
    return memory?.text ? `I will remember: ${quote(memory.text)}` : 'I will remember that.'
  },
  recall(outcome) {
    const lines = listsOf(outcome).memories.flatMap(({ text }) => text ?? [])
    if (lines.length === 0) return 'I do not remember anything about that yet.'
    return `This is what I remember:\n\n${bullets(few(lines))}`
  },
  forget: () => FORGOTTEN,
  create_note: (outcome) => `I wrote that down${titled(outcome)}.`,
  list_notes(outcome) {
    const { notes, more } = listsOf(outcome)
    if (notes.length === 0) return 'There are no such notes.'
    const lines = notes.map(({ title, excerpt }) => {
      const beginning = excerpt && excerpt !== title ? `: ${excerpt.replace(/\s+/g, ' ')}` : ''
      return `${title ?? 'Untitled'}${beginning}`
    })
    const count =
      notes.length === 1 && !more
        ? 'There is one note'
        : `There are ${more ? 'more than ' : ''}${notes.length} notes`
    return `${count}:\n\n${bullets(few(lines))}`
  },
  read_note(outcome) {
    const { note } = thingsOf(outcome)
    const content = note?.content ?? ''
    const isLong = content.length > MAX_NOTE_CHARS
    const text = isLong
      ? `${shorten(content, MAX_NOTE_CHARS)}\n\n(There is more of it; the whole is under Notes.)`
      : content
    return `${note?.title ? `**${note.title}**\n\n` : ''}${text || 'The note is empty.'}`
  },
  update_note: (outcome) => `The note is updated${titled(outcome)}.`,
  delete_note: (outcome) => `The note is deleted${titled(outcome)}. It can be restored from its revisions.`,
  set_timer(outcome, { present, remark }) {
    const { timer } = thingsOf(outcome)
    const title = timer?.title ? `${quote(timer.title)}: ` : ''
    const first = timer ? momentOf(timer, present) : null
    if (remark !== undefined) return `${title}${remark}${first ? `, first at ${first}` : ''}.`
    return first ? `${title}I will tell you at ${first}.` : capitalise(`${title}the timer is set.`)
  },
  list_timers(outcome, { present }) {
    const { timers } = listsOf(outcome)
    if (timers.length === 0) return 'No timers are set.'
    const lines = timers.map((timer) => {
      const again = timer.recurrence ? ' (repeats)' : ''
      return `${timer.title ?? 'Timer'}: ${momentOf(timer, present) ?? 'some time'}${again}`
    })
    return `${timers.length === 1 ? 'One timer is set' : `${timers.length} timers are set`}:\n\n${bullets(few(lines))}`
  },
  cancel_timer(outcome) {
    const { timer } = thingsOf(outcome)
    return timer?.title ? `The timer ${quote(timer.title)} is cancelled.` : 'The timer is cancelled.'
  },
  dispatch_task(outcome) {
    const { task } = thingsOf(outcome)
    const where = CHANNELS[task?.notify ?? ''] ?? 'here'
    const what = task?.title ? `: ${quote(task.title)}` : ''
    return `I handed that to the coding assistant${what}. When it is done you will be told ${where}.`
  },
  list_tasks(outcome) {
    const { tasks } = listsOf(outcome)
    if (tasks.length === 0) return 'The coding assistant has had no tasks yet.'
    const lines = tasks.map(({ title = 'Task', status = '', outcome: text }) => {
      const said = text ? `: ${shorten(text.replace(/\s+/g, ' '), MAX_LINE_CHARS)}` : ''
      return `${title} (${status})${said}`
    })
    return `The tasks of the coding assistant, the latest first:\n\n${bullets(few(lines))}`
  },
  cancel_task(outcome) {
    const { task } = thingsOf(outcome)
    return task?.title ? `The task ${quote(task.title)} is cancelled.` : 'The task is cancelled.'
  },
  search_timeline(outcome, { present, remark, args }) {
    if (isOfPeriod(args))
      return `${remark === undefined ? '' : `${remark} `}${tellPeriod(outcome, args, present)}`
    const { hits, more, forgotten } = listsOf(outcome)
    if (hits.length === 0 && forgotten > 0) return HAD_FORGOTTEN
    if (hits.length === 0) return 'I find nothing about that on our timeline.'
    const lines = hits.map((hit) => tellHit(hit, present))
    const count = hits.length === 1 ? 'one moment' : `${more ? 'more than ' : ''}${hits.length} moments`
    return `I find ${count}, the latest first:\n\n${bullets(few(lines))}`
  },
  current_time: (_outcome, { present: { now, timezone } }) => `It is ${tellMoment(now, timezone)}.`,
}

type PeriodArgs = { readonly query: null; readonly from?: unknown; readonly to?: unknown }

function isOfPeriod(args: unknown): args is PeriodArgs {
  return typeof args === 'object' && args !== null && 'query' in args && args.query === null
}

const MAX_PERIOD_LINES = 30

/** What the owner said in a period; what was answered stands beside it on the timeline. */
function tellPeriod(outcome: ToolOutcome, { from, to }: PeriodArgs, present: Present): string {
  const { hits, more, forgotten } = listsOf(outcome)
  const said = hits.filter(({ who }) => who === 'owner')
  const [first, last] = [from, to].map((day) => (typeof day === 'string' ? tellDay(day) : null))
  const when =
    first && last && first !== last ? `from ${first} to ${last}` : `on ${first ?? last ?? 'those days'}`
  const left = forgotten > 0 ? '\n\nWhat you had me forget is left out.' : ''
  if (said.length === 0) return `I find nothing that you said ${when}.${left}`
  const isOneDay = first !== null && first === last
  const lines = said.slice(0, MAX_PERIOD_LINES).map(({ at = '', text = '' }) => {
    const moment = tellShort(at, present.timezone)
    return `${isOneDay ? (moment.split(', ')[1] ?? moment) : moment}: ${quote(shorten(text, MAX_LINE_CHARS))}`
  })
  const rest = more || said.length > lines.length ? ['and more before that, which the timeline shows'] : []
  return `What you said ${when}, the latest first:\n\n${bullets([...lines, ...rest])}${left}`
}

/** A moment of the timeline on one line. */
function tellHit({ at, who, text = '' }: HitResult, { timezone }: Present): string {
  const speaker = who === 'owner' ? 'you' : who === 'guest' ? 'a guest' : 'I'
  const when = at === undefined ? '' : `${tellShort(at, timezone)}, `
  return `${when}${speaker}: ${quote(shorten(text, MAX_LINE_CHARS))}`
}

/** When a timer is due, in the owner's words for it; null where the tool did not say. */
export function momentOf({ local, dueAt }: TimerResult, { timezone }: Present): string | null {
  if (dueAt !== undefined && !Number.isNaN(Date.parse(dueAt))) return tellMoment(new Date(dueAt), timezone)
  return local ?? dueAt ?? null
}

function titled(outcome: ToolOutcome): string {
  const { note } = thingsOf(outcome)
  return note?.title ? `: ${quote(note.title)}` : ''
}

function few(lines: readonly string[]): string[] {
  const shown = lines.slice(0, MAX_LINES)
  return lines.length > shown.length ? [...shown, `and ${lines.length - shown.length} more`] : shown
}
