import type { Http } from './http.ts'
import { arrayField, asObject, booleanField, numberField, optionalString, stringField } from './json.ts'

export type Attempt = {
  readonly attempt: number
  readonly startedAt: string
  readonly endedAt: string | null
  /** Null while in progress. */
  readonly outcome: string | null
  readonly kind: string | null
}

export type Delivery = {
  readonly id: string
  readonly channel: string
  readonly status: string
  readonly requestedAt: string
  readonly retryAt: string | null
  readonly endedAt: string | null
  readonly kind: string | null
  readonly maxAttempts: number
  readonly fallbackOf: string | null
  readonly retryOf: string | null
  readonly attempts: readonly Attempt[]
}

export type Task = {
  readonly id: string
  readonly title: string
  readonly status: string
  readonly notify: string
  readonly by: string
  readonly timeoutMinutes: number
  readonly dispatchedAt: string
  readonly startedAt: string | null
  readonly endedAt: string | null
  readonly durationMs: number | null
  readonly kind: string | null
  readonly exitCode: number | null
  readonly progressCount: number
  readonly latestProgress: { readonly at: string; readonly text: string } | null
  readonly deliveryState: string
  readonly deliveries: readonly Delivery[]
}

/** A task with the texts that lists omit. */
export type WholeTask = Task & { readonly prompt: string; readonly outcome: string | null }

export type TaskPage = {
  readonly configured: boolean
  readonly tasks: readonly Task[]
  readonly nextCursor: string | null
}

export type NewTask = { readonly title: string; readonly prompt: string; readonly notify?: string }

type JsonObject = ReturnType<typeof asObject>

function optionalNumber(object: JsonObject, field: string): number | null {
  const value = object[field]
  return value === undefined || value === null ? null : numberField(object, field)
}

function parseAttempt(value: unknown): Attempt {
  const attempt = asObject(value, 'attempt')
  return {
    attempt: numberField(attempt, 'attempt'),
    startedAt: stringField(attempt, 'startedAt'),
    endedAt: optionalString(attempt, 'endedAt'),
    outcome: optionalString(attempt, 'outcome'),
    kind: optionalString(attempt, 'kind'),
  }
}

function parseDelivery(value: unknown): Delivery {
  const delivery = asObject(value, 'delivery')
  return {
    id: stringField(delivery, 'id'),
    channel: stringField(delivery, 'channel'),
    status: stringField(delivery, 'status'),
    requestedAt: stringField(delivery, 'requestedAt'),
    retryAt: optionalString(delivery, 'retryAt'),
    endedAt: optionalString(delivery, 'endedAt'),
    kind: optionalString(delivery, 'kind'),
    maxAttempts: numberField(delivery, 'maxAttempts'),
    fallbackOf: optionalString(delivery, 'fallbackOf'),
    retryOf: optionalString(delivery, 'retryOf'),
    attempts: arrayField(delivery, 'attempts', parseAttempt),
  }
}

function parseTask(value: unknown): Task {
  const task = asObject(value, 'task')
  const progress = task.latestProgress === null ? null : asObject(task.latestProgress, 'latestProgress')
  return {
    id: stringField(task, 'id'),
    title: stringField(task, 'title'),
    status: stringField(task, 'status'),
    notify: stringField(task, 'notify'),
    by: stringField(task, 'by'),
    timeoutMinutes: numberField(task, 'timeoutMinutes'),
    dispatchedAt: stringField(task, 'dispatchedAt'),
    startedAt: optionalString(task, 'startedAt'),
    endedAt: optionalString(task, 'endedAt'),
    durationMs: optionalNumber(task, 'durationMs'),
    kind: optionalString(task, 'kind'),
    exitCode: optionalNumber(task, 'exitCode'),
    progressCount: numberField(task, 'progressCount'),
    latestProgress: progress && { at: stringField(progress, 'at'), text: stringField(progress, 'text') },
    deliveryState: stringField(task, 'deliveryState'),
    deliveries: arrayField(task, 'deliveries', parseDelivery),
  }
}

function parseWhole(value: unknown): WholeTask {
  const task = asObject(value, 'task')
  return { ...parseTask(task), prompt: stringField(task, 'prompt'), outcome: optionalString(task, 'outcome') }
}

const addressOf = (id: string) => `/api/tasks/${encodeURIComponent(id)}`

/** Newest first. */
export async function fetchTasks(
  http: Http,
  query: { readonly limit: number; readonly cursor?: string; readonly signal?: AbortSignal },
): Promise<TaskPage> {
  const { signal, ...rest } = query
  const options = { query: rest, ...(signal ? { signal } : {}) }
  const page = asObject(await http('GET', '/api/tasks', options), 'tasks')
  return {
    configured: booleanField(page, 'configured'),
    tasks: arrayField(page, 'tasks', parseTask),
    nextCursor: optionalString(page, 'nextCursor'),
  }
}

export async function fetchTask(http: Http, id: string): Promise<WholeTask> {
  return parseWhole(await http('GET', addressOf(id)))
}

export async function dispatchTask(http: Http, task: NewTask): Promise<WholeTask> {
  return parseWhole(await http('POST', '/api/tasks', { body: task }))
}

export async function cancelTask(http: Http, id: string): Promise<void> {
  await http('POST', `${addressOf(id)}/cancel`)
}

export async function retryTask(http: Http, id: string, what: 'work' | 'delivery'): Promise<void> {
  await http('POST', `${addressOf(id)}/retry`, { body: { what } })
}
