import { msg } from '../../language/msg.ts'
import type { Task } from '../../tasks/tasks.ts'
import { seqOf } from '../contract/list-query.ts'
import { callback, cancel, dispatch, list, read, retry } from '../contract/tasks.ts'
import type { RouteDeps } from '../features.ts'
import type { Routes } from '../server/env.ts'
import { conflict, known, type Refusal } from '../server/problem.ts'

/** Work handed to the coding assistant. */
export function taskRoutes(routes: Routes, deps: RouteDeps): void {
  const { tasks } = deps.tasks

  const found = (id: string): Task => known(tasks.get(id), 'task')

  routes.openapi(list, async (c) => {
    const { limit, cursor } = c.req.valid('query')
    const page = tasks.list(limit, seqOf(cursor))
    return c.json(
      {
        configured: tasks.isConfigured,
        isolation: await deps.tasks.isolation(),
        tasks: page.tasks.map(present),
        nextCursor: page.nextSeq === null ? null : String(page.nextSeq),
      },
      200,
    )
  })

  routes.openapi(dispatch, async (c) => {
    const task = await tasks.dispatch(c.req.valid('json'), { by: 'owner' })
    if (!task) throw unconfigured()
    return c.json(presentWhole(task), 201, { Location: `/api/tasks/${task.id}` })
  })

  routes.openapi(read, (c) => c.json(presentWhole(found(c.req.valid('param').id)), 200))

  routes.openapi(cancel, async (c) => {
    const { id } = c.req.valid('param')
    found(id)
    if (!(await tasks.cancel(id, 'owner'))) throw conflict('task_over', msg`The task is already over.`)
    return c.json(presentWhole(found(id)), 200)
  })

  routes.openapi(retry, async (c) => {
    const { id } = c.req.valid('param')
    found(id)
    const { what } = c.req.valid('json')
    const outcome = await tasks.retry(id, what)
    if (outcome === 'not_configured') throw unconfigured()
    if (!outcome) {
      throw conflict('nothing_to_retry', msg`There is nothing to retry in this task now.`)
    }
    const task = presentWhole(found(outcome.task.id))
    return outcome.status === 'dispatched'
      ? c.json(task, 201, { Location: `/api/tasks/${task.id}` })
      : c.json(task, 200)
  })

  routes.openapi(callback, async (c) => {
    const action = await deps.tasks.callback.receive(c.req.valid('json'))
    return c.json({ ok: true as const, action }, 200)
  })
}

function unconfigured(): Refusal {
  return conflict(
    'no_coding_assistant',
    msg`No coding assistant is set up. Set COPILOT_COMMAND in the environment.`,
  )
}

function present(task: Task) {
  const { prompt: _prompt, outcome: _outcome, ...shown } = presentWhole(task)
  return shown
}

function presentWhole({ dispatchedSeq: _from, endedSeq: _to, ...task }: Task) {
  return task
}
