import { createReadStream, type ReadStream, rmSync } from 'node:fs'
import { join } from 'node:path'
import { backupName } from '../../ledger/events/backup.ts'
import { createErasureQueries } from '../../projections/erasures.ts'
import type { Language } from '../language/languages.ts'
import { english } from '../language/message.ts'
import { languageNow } from '../language/msg.ts'
import type { Log } from '../lib/log.ts'
import { dayIn } from '../lib/time.ts'
import type { Storage } from '../storage/storage.ts'
import { type BackupJob, downloadsDirectory, type RunBackupJob } from './job.ts'

export type Download = {
  readonly id: string
  readonly kind: 'backup' | 'export'
  /** Of the file. */
  readonly name: string
  /** `waiting`: until an erasure is over. */
  readonly state: 'waiting' | 'making' | 'ready' | 'failed'
  /** Null until it is ready. */
  readonly bytes: number | null
  /** Why it failed, as a sentence; else null. */
  readonly reason: string | null
}

export type DownloadRequest =
  | { readonly kind: 'backup'; readonly passphrase: string }
  | { readonly kind: 'export' }

type Entry = {
  shown: Download
  readonly request: DownloadRequest
  /** Of the page that asked for it. */
  readonly language: Language
  /** Only the session that asked for it may fetch the file. */
  readonly sessionId: string
  attempt: AbortController
  readonly streams: Set<ReadStream>
  expiry: NodeJS.Timeout | undefined
}

/** A file that nobody has fetched by then is removed. */
const KEPT_MS = 60 * 60_000

const UNEXPECTED = english`The file could not be made. The log says why.`

export type Downloads = ReturnType<typeof createDownloads>

/**
 * Backups and exports for the browser. Each is made in full before it is sent, so that an erasure leaves no words in it:
 * while one is pending nothing is made or sent, and what was made before it is made again. Kept in memory: a restart
 * forgets them.
 */
export function createDownloads(options: {
  readonly storage: Pick<Storage, 'views' | 'onHeadMoved'>
  readonly runJob: RunBackupJob
  readonly dataDir: string
  readonly timezone: () => string
  readonly newId: () => string
  readonly nowMs: () => number
  readonly log: Pick<Log, 'error' | 'warn'>
}) {
  const { storage, dataDir, nowMs, log } = options
  const erasures = createErasureQueries(storage.views)
  const isErasing = () => erasures.unfinished().length > 0
  /** One of each kind. */
  const entries = new Map<Download['kind'], Entry>()
  let unsubscribe: () => void = () => undefined

  const directoryOf = ({ shown }: Entry) => join(downloadsDirectory(dataDir), shown.id)
  const show = (entry: Entry, change: Partial<Download>) => {
    entry.shown = { ...entry.shown, ...change }
  }

  function jobOf({ shown: { name }, request, language }: Entry, directory: string): BackupJob {
    return request.kind === 'backup'
      ? { kind: 'download', dataDir, directory, name, passphrase: request.passphrase }
      : { kind: 'export', dataDir, directory, name, timezone: options.timezone(), language }
  }

  async function make(entry: Entry): Promise<void> {
    const { signal } = entry.attempt
    show(entry, { state: 'making' })
    try {
      const made = await options.runJob(jobOf(entry, directoryOf(entry)), signal)
      if (signal.aborted) return
      if (made.status === 'failed') {
        log.warn({ kind: entry.shown.kind, reason: made.reason }, 'a download could not be made')
        return fail(entry, made.reason)
      }
      show(entry, { state: 'ready', bytes: made.bytes })
      entry.expiry = setTimeout(() => expire(entry), KEPT_MS).unref()
    } catch (error) {
      if (signal.aborted) return
      log.error({ err: error }, 'a download could not be made')
      fail(entry, UNEXPECTED)
    }
  }

  function fail(entry: Entry, reason: string): void {
    rmSync(directoryOf(entry), { recursive: true, force: true })
    show(entry, { state: 'failed', reason })
  }

  /** Ends what is being made or sent, and removes it. */
  function discard(entry: Entry): void {
    clearTimeout(entry.expiry)
    entry.attempt.abort(new Error('the download was discarded'))
    for (const stream of entry.streams) stream.destroy(new Error('the download was discarded'))
    rmSync(directoryOf(entry), { recursive: true, force: true })
  }

  function drop(entry: Entry): void {
    discard(entry)
    if (entries.get(entry.shown.kind) === entry) entries.delete(entry.shown.kind)
  }

  /** A slow line may still be fetching it. */
  function expire(entry: Entry): void {
    if (entry.streams.size === 0) drop(entry)
    else entry.expiry?.refresh()
  }

  function look(): void {
    const mustWait = isErasing()
    for (const entry of entries.values()) {
      const { state } = entry.shown
      if (mustWait && (state === 'making' || state === 'ready')) {
        discard(entry)
        show(entry, { state: 'waiting', bytes: null })
      } else if (!mustWait && state === 'waiting') {
        entry.attempt = new AbortController()
        void make(entry)
      }
    }
  }

  const find = (id: string) => [...entries.values()].find(({ shown }) => shown.id === id)

  return {
    start(): void {
      rmSync(downloadsDirectory(dataDir), { recursive: true, force: true })
      unsubscribe = storage.onHeadMoved(look, ['erasure'])
    },
    /** Begins to make a file. It takes the place of an earlier one of its kind. */
    request(request: DownloadRequest, sessionId: string): Download {
      const { kind } = request
      const earlier = entries.get(kind)
      if (earlier) drop(earlier)
      const name =
        kind === 'backup' ? backupName(nowMs()) : `delegate-export-${dayIn(options.timezone(), nowMs())}.zip`
      const entry: Entry = {
        shown: { id: options.newId(), kind, name, state: 'waiting', bytes: null, reason: null },
        request,
        language: languageNow(),
        sessionId,
        attempt: new AbortController(),
        streams: new Set(),
        expiry: undefined,
      }
      entries.set(kind, entry)
      look()
      return entry.shown
    },
    /** Those that the session asked for. */
    list: (sessionId: string): readonly Download[] =>
      [...entries.values()].flatMap((entry) => (entry.sessionId === sessionId ? [entry.shown] : [])),
    /** The file, once it is ready; undefined for another session. */
    open(id: string, sessionId: string): (Download & { readonly stream: ReadStream }) | undefined {
      const entry = find(id)
      if (entry?.shown.state !== 'ready' || entry.sessionId !== sessionId) return undefined
      const stream = createReadStream(join(directoryOf(entry), entry.shown.name))
      entry.streams.add(stream)
      stream.once('close', () => entry.streams.delete(stream))
      return { ...entry.shown, stream }
    },
    /** False if there is none. */
    remove(id: string): boolean {
      const entry = find(id)
      if (entry) drop(entry)
      return entry !== undefined
    },
    close(): void {
      unsubscribe()
      for (const entry of [...entries.values()]) drop(entry)
    },
  }
}
