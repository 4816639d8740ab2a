import * as z from 'zod'
import type { ToolOutcome } from './situation.ts'

/**
 * What the tools are relied on to answer, beside `ok`, `reason` and `message`. Everything is optional: where something is
 * missing, the wording does without it.
 */
const text = z.string().optional().catch(undefined)
const texts = <S extends z.ZodType>(item: S) => z.array(item).catch([]).default([])

const memory = z.looseObject({ id: text, text, since: text })
const note = z.looseObject({ id: text, title: text, content: text, excerpt: text })
const timer = z.looseObject({
  id: text,
  title: text,
  dueAt: text,
  local: text,
  recurrence: z.string().nullish().catch(null),
})
const task = z.looseObject({
  title: text,
  status: text,
  notify: text,
  outcome: z.string().nullish().catch(null),
})
const hit = z.looseObject({ at: text, who: text, channel: text, type: text, text })

export type TimerResult = z.output<typeof timer>
export type HitResult = z.output<typeof hit>

const many = z.object({
  memories: texts(memory),
  notes: texts(note),
  timers: texts(timer),
  tasks: texts(task),
  hits: texts(hit),
  more: z.boolean().catch(false).default(false),
  /** So many were found that the owner had forgotten. */
  forgotten: z.number().catch(0).default(0),
})
const one = z.object({
  memory: memory.optional().catch(undefined),
  note: note.optional().catch(undefined),
  timer: timer.optional().catch(undefined),
  task: task.optional().catch(undefined),
})

/** The lists of an outcome; empty where there are none. */
export function listsOf(outcome: ToolOutcome): z.output<typeof many> {
  return many.parse(outcome)
}

/** The single things of an outcome. */
export function thingsOf(outcome: ToolOutcome): z.output<typeof one> {
  return one.parse(outcome)
}
