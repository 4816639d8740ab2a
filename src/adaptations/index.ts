import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import pLimit from 'p-limit'
import * as z from 'zod'
import type { NewEvent } from '../../ledger/event.ts'
import { type AdaptationRow, createAdaptationQueries } from '../../projections/adaptations.ts'
import type { Storage } from '../storage/storage.ts'
import {
  type Adaptation,
  type AdaptationChange,
  type AdaptationChannel,
  type AdaptationWords,
  CHANNELS,
  MAX_ADAPTATIONS,
  MAX_TOTAL_CHARS,
  toChannels,
} from './adaptation.ts'
import {
  ADAPTATIONS_DIRECTORY,
  idOf,
  readAdaptationFiles,
  removeAdaptationFile,
  type SkippedFile,
} from './files.ts'

export type SaveOutcome =
  | { readonly status: 'created' | 'updated'; readonly adaptation: Adaptation }
  /** A new adaptation needs content. */
  | { readonly status: 'no_content' }
  | { readonly status: 'too_many' | 'too_long' }

export type Adaptations = ReturnType<typeof buildAdaptations>

/** The owner's standing instructions, from the browser or from files in the data directory. */
export function buildAdaptations(options: {
  readonly storage: Pick<Storage, 'append' | 'ledger' | 'views'>
  /** The data directory. */
  readonly directory: string
}) {
  const { append, ledger, views } = options.storage
  const queries = createAdaptationQueries(views)
  const directory = join(options.directory, ADAPTATIONS_DIRECTORY)
  /** Serialises writes, because limits apply to all adaptations together. */
  const inTurn = pLimit(1)

  function wordsAt(seq: number) {
    const [event] = ledger.readSeqs([seq])
    return event?.type === 'adaptation.saved' ? event : undefined
  }

  /** Undefined if its text is erased or hidden. */
  function toAdaptation(row: AdaptationRow): Adaptation | undefined {
    const words = wordsAt(row.savedSeq)?.body
    if (!words) return undefined
    const { adaptationId: id, source, updatedAt } = row
    return { id, ...words, enabled: row.enabled === 1, channels: channelsOf(row), source, updatedAt }
  }

  function list(): Adaptation[] {
    return queries.all().flatMap((row) => toAdaptation(row) ?? [])
  }

  function get(id: string): Adaptation | undefined {
    const row = queries.byId(id)
    return row && toAdaptation(row)
  }

  function exceeds(id: string, content: string): 'too_many' | 'too_long' | null {
    const others = list().filter((other) => other.id !== id)
    if (others.length >= MAX_ADAPTATIONS) return 'too_many'
    const total = others.reduce((chars, other) => chars + other.content.length, content.length)
    return total > MAX_TOTAL_CHARS ? 'too_long' : null
  }

  async function appendSaved(
    id: string,
    words: AdaptationWords,
    by: { readonly actor: 'owner' | 'service'; readonly source: 'owner' | 'file' },
    derivedFrom: readonly number[] = [],
  ): Promise<void> {
    const { title, content, enabled, channels } = words
    await append([
      {
        type: 'adaptation.saved',
        actor: by.actor,
        channel: 'system',
        derivedFrom,
        facts: { adaptationId: id, enabled, channels: [...channels], source: by.source },
        body: { title, content },
      },
    ])
  }

  async function save(id: string, change: AdaptationChange): Promise<SaveOutcome> {
    const row = queries.byId(id)
    const present = row && toAdaptation(row)
    const content = change.content ?? present?.content
    if (content === undefined) return { status: 'no_content' }
    const limit = exceeds(id, content)
    if (limit) return { status: limit }
    const title = change.title ?? present?.title ?? id
    const kept = [title === present?.title, content === present?.content]
    await appendSaved(
      id,
      {
        title,
        content,
        enabled: change.enabled ?? present?.enabled ?? true,
        channels: toChannels(change.channels ?? present?.channels ?? CHANNELS),
      },
      { actor: 'owner', source: present && !kept.includes(false) ? present.source : 'owner' },
      row && kept.includes(true) ? [row.savedSeq] : [],
    )
    const adaptation = get(id)
    if (!adaptation) throw new Error(`adaptation ${id} is missing from the views after its append`)
    return { status: present ? 'updated' : 'created', adaptation }
  }

  async function load(atStart: boolean) {
    const { exists, found, skipped: unread } = await readAdaptationFiles(directory)
    const skipped = [...unread]
    const loaded: string[] = []
    let changes = 0
    for (const { id, file, adaptation } of found) {
      const row = queries.byId(id)
      const limit = exceeds(id, adaptation.content)
      // The erasure will delete the file.
      if (row && !toAdaptation(row)) skipped.push({ file, reason: 'it is about to be erased' })
      else if (row && row.fileSeq === null)
        skipped.push({ file, reason: 'an instruction from the browser has this name' })
      else if (limit) skipped.push({ file, reason: 'the limit for instructions is reached' })
      else {
        loaded.push(id)
        if (row && row.fileSeq !== null && isUnchanged(row.fileSeq, adaptation)) continue
        changes += 1
        await appendSaved(id, adaptation, { actor: 'service', source: 'file' })
      }
    }
    const isKept = (id: string) => loaded.includes(id) || (atStart && (!exists || isUnread(id, skipped)))
    for (const row of queries.all()) {
      if (row.source !== 'file' || isKept(row.adaptationId)) continue
      changes += 1
      await append([removal(row.adaptationId, 'file')])
    }
    if (changes > 0 || !atStart) {
      const facts = { loaded: loaded.length, skipped: skipped.length }
      await append([{ type: 'adaptations.reloaded', actor: 'service', channel: 'system', facts }])
    }
    return { loaded: loaded.length, skipped }
  }

  /** Whether a file is unchanged since its last load. */
  function isUnchanged(fileSeq: number, adaptation: AdaptationWords): boolean {
    const event = wordsAt(fileSeq)
    if (!event?.body) return false
    const { enabled, channels } = event.facts
    return isDeepStrictEqual({ ...event.body, enabled, channels }, adaptation)
  }

  return {
    /** In the order in which they were created. */
    list,
    get,
    /** Adaptations in force on a channel. */
    forChannel: (channel: AdaptationChannel) =>
      list().filter(({ enabled, channels }) => enabled && channels.includes(channel)),
    /** The events with the text of those, even if it is erased. */
    seqsInForce: (channel: AdaptationChannel) =>
      queries
        .all()
        .filter((row) => row.enabled === 1 && channelsOf(row).includes(channel))
        .map((row) => row.savedSeq),
    /** Creates or changes an adaptation; absent fields stay as they are. Applies from the next turn. */
    save: (id: string, change: AdaptationChange) => inTurn(() => save(id, change)),
    /** Removes an adaptation. One from a file returns with the next reload, unless the file is gone. */
    remove: (id: string) =>
      inTurn(async () => {
        if (!get(id)) return false
        await append([removal(id, 'owner')])
        return true
      }),
    /** Reads the files again. A file that changed since its last load overrides the owner's edits. */
    reload: () => inTurn(() => load(false)),
    /** Loads the files. Appends nothing if nothing changed; a missing directory removes nothing. */
    start: () => inTurn(() => load(true)),
    /** All events with text of it. */
    seqs: queries.saves,
    /** Deletes the files last loaded by those events. Otherwise a reload would restore erased text. */
    async removeFilesOf(seqs: readonly number[]): Promise<void> {
      for (const { adaptationId, fileSeq } of queries.all())
        if (fileSeq !== null && seqs.includes(fileSeq)) removeAdaptationFile(directory, adaptationId)
    },
  }
}

/** Whether the file exists but was skipped, so that a start does not remove its adaptation. */
function isUnread(id: string, skipped: readonly SkippedFile[]): boolean {
  return skipped.some(({ file }) => idOf(file) === id)
}

function removal(adaptationId: string, source: 'owner' | 'file'): NewEvent {
  const actor = source === 'owner' ? 'owner' : 'service'
  return { type: 'adaptation.removed', actor, channel: 'system', facts: { adaptationId, source } }
}

function channelsOf(row: AdaptationRow): AdaptationChannel[] {
  return z.array(z.enum(CHANNELS)).parse(JSON.parse(row.channels))
}
