import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { NewEvent } from '../../ledger/event.ts'
import type { EventType } from '../../ledger/events/catalogue.ts'
import { viewsFile } from '../../ledger/files.ts'
import { searchTimeline } from '../../projections/search.ts'
import { filesIn, testDirectory } from '../support/directory.ts'
import { exampleOf, withWords } from '../support/facts.ts'
import { createRandom } from '../support/random.ts'
import { erase, openTestWriter } from '../support/writer.ts'

const FACTS = 1200
const TYPES: readonly EventType[] = [
  'chat.message.received',
  'chat.reply.sent',
  'memory.stored',
  'sms.received',
  'sms.sent',
  'call.utterance.heard',
  'proposal.made',
  'note.created',
  'task.dispatched',
  'task.finished',
  'timer.set',
  'tool.returned',
]
/** Long enough that no canary occurs by chance in other words, ids or hashes. */
const TELLING_BYTES = 10
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZéÄñç'

/** Unique words for each fact, reproducible from the seed. */
function createCanaries(seed: number) {
  const random = createRandom(seed).next
  const pick = (below: number) => Math.floor(random() * below)
  const many = (length: number, one: () => string) => Array.from({ length }, one).join('')
  const stem = () =>
    pick(8) === 0
      ? many(7, () => String.fromCodePoint(0x4e00 + pick(3000)))
      : many(16, () => LETTERS[pick(LETTERS.length)] ?? '')
  /** Two words that differ only at the end, so that an index stores one of them in full. */
  const words = (stem: string) => `${stem}m ${stem}q${pick(10)}`
  return {
    pick,
    stem,
    textOf(stem: string): string {
      const repeats = pick(40) === 0 ? pick(1500) : pick(4)
      return pick(2) === 0
        ? `${'tea and milk '.repeat(repeats)}${words(stem)}`
        : `${`${words(stem)} `.repeat(1 + repeats)} tea`
    },
  }
}

/** The bytes as text in lower case. */
const caseless = (bytes: Buffer) => bytes.toString('latin1').toLowerCase()
const withoutAccents = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '')

/** The stems that occur in a directory's files: by their first bytes, or by those after a shared prefix. */
function foundIn(directory: string, stems: readonly string[]): string[] {
  const parts = new Map<string, string>()
  for (const stem of stems)
    for (const form of [stem, withoutAccents(stem)])
      for (const encoding of ['utf8', 'utf16le'] as const) {
        const bytes = caseless(Buffer.from(form, encoding))
        for (const start of [0, 4]) parts.set(bytes.slice(start, start + TELLING_BYTES), stem)
      }
  return filesIn(directory).flatMap((file) => {
    const bytes = caseless(readFileSync(file))
    const found = new Set<string>()
    for (let at = 0; at + TELLING_BYTES <= bytes.length; at += 1) {
      const stem = parts.get(bytes.slice(at, at + TELLING_BYTES))
      if (stem !== undefined) found.add(`${stem} in ${basename(file)}`)
    }
    return [...found]
  })
}

/** Runs the integrity check of FTS5 on each index and its content table. */
function checkIndexes(directory: string): void {
  const views = new Database(viewsFile(directory))
  for (const table of ['search_index', 'recall_index'])
    views.prepare(`INSERT INTO ${table} (${table}, rank) VALUES ('integrity-check', 1)`).run()
  views.close()
}

test('leaves no word of 400 erased facts in any file', { tags: ['long'] }, () => {
  const { pick, stem, textOf } = createCanaries(7)
  const directory = testDirectory()
  let writer = openTestWriter(directory)
  const stems = Array.from({ length: FACTS }, stem)
  const facts = stems.map((each, index): NewEvent => {
    const example = exampleOf(TYPES[index % TYPES.length] ?? 'chat.message.received', { actor: 'owner' })
    const named = { party: 'owner', memoryId: `m${index}`, noteId: `n${index}`, taskId: `t${index}` }
    const own = Object.entries(named).filter(([name]) => name in example.facts)
    const { facts } = example
    return withWords(
      { ...example, facts: { ...facts, ...Object.fromEntries(own) } } as NewEvent,
      textOf(each),
    )
  })
  // Appended in portions, so that the indexes have several segments and merge some.
  for (let start = 0; start < FACTS; start += 60) {
    writer.append(...facts.slice(start, start + 60))
    writer.settle()
  }
  const seqs = stems.flatMap((_, index) => (pick(3) === 0 ? [index + 1] : []))
  expect(foundIn(directory, stems).length).toBeGreaterThan(stems.length)

  const erasures = [seqs.slice(0, 8).map((seq) => [seq]), [seqs.slice(8, 40), seqs.slice(40, -20)]].flat()
  for (const erasure of erasures) writer.forget(...erasure)
  // Recorded but not cleaned up, as after a crash; the next start does that.
  erase(writer, seqs.slice(-20), '2031-01-01T00:00:00.000Z')
  writer.close()
  writer = openTestWriter(directory)
  writer.settle()
  expect(writer.isSettled()).toBe(true)

  const erasedSeqs = new Set(seqs)
  const left = stems.flatMap((each, index) => (erasedSeqs.has(index + 1) ? [] : [{ each, seq: index + 1 }]))
  const erased = seqs.map((seq) => stems[seq - 1] ?? '')
  expect(foundIn(directory, erased)).toEqual([])
  checkIndexes(directory)
  const views = new Database(viewsFile(directory), { readonly: true })
  const find = (query: string) => searchTimeline(views, { query, limit: 9, beforeSeq: null })
  for (const { each, seq } of left)
    if (TYPES[(seq - 1) % TYPES.length] !== 'tool.returned')
      expect(find(`${each}m`).map((hit) => hit.seq)).toEqual([seq])
  for (const each of erased) expect(find(`${each}m`)).toEqual([])
  views.close()
  writer.close()
})
