import * as z from 'zod'
import { CONFIRM } from './wording.ts'

/** The fields of tool results that replies use. All are optional. */
const text = z.string().optional().catch(undefined)
const listOf = <S extends z.ZodType>(item: S) => z.array(item).catch([]).default([])

const memory = z.looseObject({ id: text, text, since: text })
const note = z.looseObject({ id: text, title: text, content: text, excerpt: text })
const timer = z.looseObject({
  id: text,
  title: text,
  dueAt: text,
  recurrence: z.string().nullish().catch(null),
})
const task = z.looseObject({
  title: text,
  status: text,
  notify: text,
  outcome: z.string().nullish().catch(null),
})
const hit = z.looseObject({ at: text, who: text, text })
const part = z.looseObject({ kind: text, items: listOf(z.string()) })

export type TimerResult = z.output<typeof timer>

const outcomeSchema = z.object({
  ok: z.boolean().catch(true),
  reason: text,
  message: text,
  memories: listOf(memory),
  notes: listOf(note),
  timers: listOf(timer),
  /** Lines that a note lacks, so that they could not be removed. */
  absent: listOf(z.string()),
  /** Reminders that are due and not done. */
  open: listOf(timer),
  tasks: listOf(task),
  hits: listOf(hit),
  /** Messages that recall found. */
  said: listOf(hit),
  more: z.boolean().catch(false).default(false),
  /** Number of search results that are left out as forgotten, or of memories that a call forgot. */
  forgotten: z.number().catch(0).default(0),
  undoSeconds: z.number().optional().catch(undefined),
  /** The owner can choose in the browser until then. */
  chooseUntil: text,
  goes: listOf(part),
  stays: listOf(part),
  restored: listOf(part),
  note: note.optional().catch(undefined),
  timer: timer.optional().catch(undefined),
  task: task.optional().catch(undefined),
})

export type Outcome = z.output<typeof outcomeSchema>

export const NO_OUTCOME: Outcome = outcomeSchema.parse({ ok: false })

/** Parses a tool result. An invalid one becomes a refusal without a reason. */
export function readOutcome(json: string): Outcome {
  try {
    return outcomeSchema.parse(JSON.parse(json))
  } catch {
    return NO_OUTCOME
  }
}

/** Tells the owner why a tool did nothing. */
export function whyNot({ reason, message }: Outcome): string {
  if (reason === 'invalid_arguments') return 'That is too long for me to take. A note holds long texts.'
  if (reason === 'needs_confirmation') return CONFIRM
  return message ?? 'That did not work.'
}
