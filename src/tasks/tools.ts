import * as z from 'zod'
import { english } from '../language/message.ts'
import { shorten } from '../lib/shorten.ts'
import {
  defineTool,
  type Planned,
  refuse,
  type Tool,
  type ToolContext,
  type ToolResult,
} from '../model/tool.ts'
import { MAX_PROMPT_CHARS, MAX_TITLE_CHARS } from './limits.ts'
import type { Task, Tasks } from './tasks.ts'

const LISTED_TASKS = 20
const OUTCOME_CHARS = 3_000
const OUTCOME_GOES = {
  chat: english`The outcome goes to the chat.`,
  sms: english`The outcome goes to you by text message.`,
  webhook: english`The outcome goes to the webhook in your settings.`,
} as const

/** The delegate's tools for the coding assistant. */
export function taskTools(tasks: Tasks): Tool[] {
  /** The waiting or running task with this id, or with these words in its title. */
  function findOpen(
    query: string,
    { messageSeq }: ToolContext,
  ): { readonly task: Task } | { readonly refusal: ToolResult } {
    if (messageSeq === null)
      return { refusal: refuse('needs_owner', 'Only a message of the owner can cancel work.') }
    const words = query.toLowerCase()
    const [task, ...others] = tasks
      .list(LISTED_TASKS, null)
      .tasks.filter(({ status }) => status === 'queued' || status === 'running')
      .filter(({ id, title }) => id === query || title.toLowerCase().includes(words))
    if (!task) return { refusal: refuse('not_found', `No task about “${query}” is waiting or running.`) }
    if (others.length > 0)
      return { refusal: refuse('ambiguous', `${others.length + 1} tasks match. Say which one.`) }
    return { task }
  }

  return [
    defineTool({
      name: 'dispatch_task',
      class: 'consequential',
      description:
        'Hands work to the coding assistant on the machine of the owner. It works by itself, for minutes or hours; the ' +
        'owner is told of the outcome on the channel named in notify (null: as their settings say).',
      parameters: z.object({
        title: z.string().trim().min(1).max(MAX_TITLE_CHARS).describe('A few words'),
        prompt: z
          .string()
          .trim()
          .min(1)
          .max(MAX_PROMPT_CHARS)
          .describe('All that the assistant must know; it has not heard the conversation'),
        notify: z.enum(['chat', 'sms', 'webhook']).nullable(),
      }),
      // The key of the call makes a second run return the same task.
      idempotent: true,
      readOnly: false,
      async plan({ title, prompt, notify }, { messageSeq }): Promise<Planned> {
        if (messageSeq === null) return { refusal: needsOwner() }
        return {
          deed: {
            subject: 'task',
            arguments: { title, prompt, notify },
            title: english`Have the coding assistant do “${title}”`,
            detail: notify === null ? prompt : `${OUTCOME_GOES[notify]}\n\n${prompt}`,
            verb: english`Run task`,
            derivedFrom: [],
          },
        }
      },
      async run({ title, prompt, notify }, { messageSeq, calledSeq, key }) {
        if (messageSeq === null) return needsOwner()
        const task = await tasks.dispatch(
          { title, prompt, notify: notify ?? undefined },
          { by: 'delegate', causedBy: calledSeq, derivedFrom: [messageSeq, calledSeq], key },
        )
        if (!task)
          return refuse(
            'not_configured',
            'No coding assistant is set up. The operator names its command in the environment variable COPILOT_COMMAND.',
          )
        return { ok: true, data: { task: present(task) }, refs: [{ kind: 'task', id: task.id }] }
      },
    }),
    defineTool({
      name: 'list_tasks',
      class: 'free',
      description: 'Lists the newest tasks of the coding assistant, with what came of them.',
      parameters: z.object({}),
      idempotent: true,
      readOnly: true,
      reads: 'what a task came to',
      async run() {
        const found = tasks.list(LISTED_TASKS, null).tasks
        return {
          ok: true,
          data: {
            tasks: found.map((task) => ({
              ...present(task),
              ...(task.outcome === null ? {} : { outcome: shorten(task.outcome, OUTCOME_CHARS) }),
            })),
          },
          derivedFrom: found.flatMap(({ dispatchedSeq, endedSeq }) =>
            endedSeq === null ? [dispatchedSeq] : [dispatchedSeq, endedSeq],
          ),
        }
      },
    }),
    defineTool({
      name: 'cancel_task',
      class: 'guarded',
      description: 'Cancels a task of the coding assistant, found by words of its title.',
      parameters: z.object({ query: z.string().trim().min(1).max(MAX_TITLE_CHARS) }),
      idempotent: true,
      readOnly: false,
      async plan({ query }, context): Promise<Planned> {
        const found = findOpen(query, context)
        if ('refusal' in found) return found
        const { id, title, prompt, dispatchedSeq } = found.task
        return {
          deed: {
            subject: `task:${id}`,
            arguments: { query: id },
            title: english`Cancel the task “${title}”`,
            detail: prompt,
            verb: english`Cancel task`,
            derivedFrom: [dispatchedSeq],
          },
        }
      },
      async run({ query }, context) {
        const found = findOpen(query, context)
        if ('refusal' in found) return found.refusal
        const { task } = found
        await tasks.cancel(task.id, 'delegate')
        return {
          ok: true,
          data: { task: { ...present(task), status: 'cancelled' } },
          refs: [{ kind: 'task', id: task.id }],
          derivedFrom: [task.dispatchedSeq],
        }
      },
    }),
  ]
}

/** Without the task id, which authenticates callbacks. */
function present({ title, status, notify, dispatchedAt, endedAt, kind, deliveryState }: Task) {
  return { title, status, notify, dispatchedAt, endedAt, kind, delivery: deliveryState }
}

/** Running programs needs the owner's words: a signal does not express anybody's wish. */
function needsOwner() {
  return refuse('needs_owner', 'Only a message of the owner can hand work over. Ask them first.')
}
