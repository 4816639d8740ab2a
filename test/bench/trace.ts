import type { CDPSession } from 'playwright-core'

/** A task of the page's main thread. `cpuMs` is the part of `ms` that it ran; the rest it waited. */
export type Task = {
  readonly atMs: number
  readonly ms: number
  readonly cpuMs: number
  /** What the task spent its time on, the longest first; each part excludes the parts within it. */
  readonly parts: readonly { readonly name: string; readonly ms: number }[]
}

/** A complete event (phase X) of a Chromium trace; times in microseconds. */
type TraceEvent = {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  readonly ts: number
  readonly dur?: number
  readonly tdur?: number
  readonly args?: { readonly data?: { readonly functionName?: string; readonly type?: string } }
}

const CATEGORIES = ['toplevel', 'devtools.timeline', 'v8', 'disabled-by-default-v8.gc', '__metadata', 'blink']

/** Records browser activity; the returned function stops and resolves to the main threads' tasks. */
export async function traceTasks(session: CDPSession): Promise<() => Promise<readonly Task[]>> {
  const events: TraceEvent[] = []
  session.on('Tracing.dataCollected', ({ value }) => {
    for (const event of value) events.push(event as unknown as TraceEvent)
  })
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: {
      includedCategories: CATEGORIES,
      recordMode: 'recordContinuously',
      traceBufferSizeInKb: 400_000,
    },
  })
  return async () => {
    const complete = new Promise<void>((resolve) => session.once('Tracing.tracingComplete', () => resolve()))
    await session.send('Tracing.end')
    await complete
    return tasksOf(events)
  }
}

function tasksOf(events: readonly TraceEvent[]): readonly Task[] {
  const mains = new Set(
    events
      .filter(
        ({ name, args }) => name === 'thread_name' && Reflect.get(args ?? {}, 'name') === 'CrRendererMain',
      )
      .map(({ pid, tid }) => `${pid}:${tid}`),
  )
  const work = events
    .filter(({ ph, pid, tid }) => ph === 'X' && mains.has(`${pid}:${tid}`))
    .sort((a, b) => a.tid - b.tid || a.ts - b.ts || (b.dur ?? 0) - (a.dur ?? 0))
  const tasks: Task[] = []
  let at = 0
  while (at < work.length) {
    const task = work[at]
    at += 1
    if (!task || !/RunTask$/.test(task.name)) continue
    const end = task.ts + (task.dur ?? 0)
    const within: TraceEvent[] = []
    for (let next = work[at]; next && next.tid === task.tid && next.ts < end; next = work[at]) {
      within.push(next)
      at += 1
    }
    tasks.push({
      atMs: task.ts / 1000,
      ms: (task.dur ?? 0) / 1000,
      cpuMs: (task.tdur ?? 0) / 1000,
      parts: (task.dur ?? 0) > 30_000 ? partsOf(within) : [],
    })
  }
  return tasks.sort((a, b) => a.atMs - b.atMs)
}

/** The time spent in each name, without nested events. */
function partsOf(events: readonly TraceEvent[]): Task['parts'] {
  const own = new Map<string, number>()
  const open: TraceEvent[] = []
  const add = (name: string, micros: number) => own.set(name, (own.get(name) ?? 0) + micros / 1000)
  for (const event of events) {
    while (open.length > 0 && (open.at(-1)?.ts ?? 0) + (open.at(-1)?.dur ?? 0) <= event.ts) open.pop()
    const outer = open.at(-1)
    const micros = event.dur ?? 0
    if (outer) add(nameOf(outer), -micros)
    add(nameOf(event), micros)
    open.push(event)
  }
  return [...own]
    .map(([name, ms]) => ({ name, ms }))
    .filter(({ ms }) => ms >= 2)
    .sort((a, b) => b.ms - a.ms)
    .slice(0, 6)
}

function nameOf({ name, args }: TraceEvent): string {
  const of = args?.data?.functionName || args?.data?.type
  return of ? `${name} ${of}` : name
}
