import type { TimelinePage } from '../../../src/http/contract/timeline.ts'
import { deviceText } from '../settings/device.ts'
import { COPY } from './copy-name.ts'

const choiceKey = 'delegate.offline-copy'
const timelinePath = '/api/timeline?limit=200'
/**
 * How many items a list shows at first: the copy answers exactly what its page asks for. More pinned memories do not fit
 * the tokens that memories may use.
 */
export const firstItems = { notes: 50, memories: 50, pinned: 200 }
const notesPath = `/api/notes?limit=${firstItems.notes}&deleted=false`
const memoryPaths = [
  `/api/memories?limit=${firstItems.pinned}&pinned=true`,
  `/api/memories?limit=${firstItems.memories}&pinned=false`,
]
/** Coalesces a burst of erasures. */
const renewPauseMs = 1_000

/**
 * A copy of the newest parts of the timeline, notes and memories, which the service worker answers from while the
 * service cannot be reached. The owner chooses it for each device.
 */
export const offlineCopy = { isWanted, want, renewSoon, clear, drop, timeline }

function isWanted(): boolean {
  return localStorage.getItem(choiceKey) === '1'
}

async function want(): Promise<void> {
  localStorage.setItem(choiceKey, '1')
  await renew()
}

/** How often the copy was cleared: a renewal that began before puts nothing back. */
let cleared = 0

/** Replaces the copy. What was erased meanwhile is not in the new one. Throws if the service cannot be reached. */
async function renew(): Promise<void> {
  if (!isWanted()) return
  const before = cleared
  const isOutdated = () => cleared !== before || !isWanted()
  const notesPage = await read(notesPath)
  const { notes }: { notes: { id: string }[] } = await notesPage.answer.clone().json()
  const paths = notes.flatMap(({ id }) => [`/api/notes/${id}`, `/notes/${id}`])
  const others = await Promise.all([timelinePath, ...memoryPaths, ...paths].map(read))
  if (isOutdated()) return
  await caches.delete(COPY)
  const copy = await caches.open(COPY)
  await Promise.all([notesPage, ...others].map(({ path, answer }) => copy.put(path, answer)))
  if (isOutdated()) return void (await caches.delete(COPY))
  await report('PUT', { device: deviceText(navigator.userAgent) })
}

let soon: ReturnType<typeof setTimeout> | undefined
function renewSoon(): void {
  clearTimeout(soon)
  // Without contact, the old copy stays until it expires.
  soon = setTimeout(() => void renew().catch(() => undefined), renewPauseMs)
}

/** Removes the copy. A new one is made with the next contact, if it is still wanted. */
async function clear(): Promise<void> {
  clearTimeout(soon)
  cleared += 1
  await globalThis.caches?.delete(COPY)
}

/** Removes the copy, and keeps none from now on. */
async function drop(): Promise<void> {
  if (!isWanted()) return
  localStorage.removeItem(choiceKey)
  await clear()
  await report('DELETE')
}

/** So that the receipt of an erasure can name this device. Without an answer, it names an older copy. */
async function report(method: 'PUT' | 'DELETE', body?: object): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  await fetch('/api/offline-copy', { method, headers, body: JSON.stringify(body ?? {}) }).catch(
    () => undefined,
  )
}

/** The timeline of the copy; null without one. */
async function timeline(): Promise<TimelinePage | null> {
  if (!isWanted()) return null
  const answer = await fetch(timelinePath).catch(() => null)
  return answer?.ok ? await answer.json() : null
}

async function read(path: string): Promise<{ readonly path: string; readonly answer: Response }> {
  const answer = await fetch(path)
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}`)
  return { path, answer }
}
