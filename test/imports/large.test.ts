// @module-tag long

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeExport } from '../../scripts/lib/export.ts'
import { testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'
import {
  chatGptConversation,
  claudeConversation,
  jsonList,
  over,
  type Talk,
  upload,
  writeZip,
} from './exports.ts'

const MESSAGES = 100_000
const MESSAGES_EACH = 20
const CONVERSATIONS = MESSAGES / MESSAGES_EACH
const MIB = 1024 * 1024
/** What the whole process may grow by, which holds the service, its threads and the test. */
const MAX_GROWTH_BYTES = 600 * MIB

/** Many conversations, made one at a time. */
function* talks(service: string) {
  for (let index = 0; index < CONVERSATIONS; index += 1)
    yield {
      id: `${service}-${index}`,
      title: `Conversation ${index}`,
      at: new Date(Date.UTC(2023, 0, 1) + index * 3_600_000).toISOString(),
      texts: Array.from(
        { length: MESSAGES_EACH },
        (_, message) => `Message ${message} of ${index}: ${'some words about gardens and boats '.repeat(12)}`,
      ),
    }
}

function* each<T, U>(values: Iterable<T>, change: (value: T) => U): Generator<U> {
  for (const value of values) yield change(value)
}

const FORMS: readonly (readonly [string, (talk: Talk) => unknown])[] = [
  ['chatgpt', chatGptConversation],
  ['claude', claudeConversation],
]

test.for(FORMS)(
  'imports 100,000 messages of %s in bounded memory, and exports them again',
  {
    timeout: 900_000,
  },
  async ([name, toConversation]) => {
    const service = await startWholeService({ waits: { warmUpMs: 3_600_000 } })
    const path = await writeZip(`${name}.zip`, {
      'conversations.json': () => jsonList(each(talks(name), toConversation)),
    })
    const before = process.memoryUsage.rss()
    let peak = before
    const sampling = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage.rss())
    }, 50)
    const done = await over(service, await upload(service, path), 800_000)
    clearInterval(sampling)
    expect(done).toMatchObject({ state: 'completed', conversations: CONVERSATIONS, messages: MESSAGES })
    expect(peak - before).toBeLessThan(MAX_GROWTH_BYTES)

    const directory = join(testDirectory(), 'export')
    mkdirSync(directory)
    const beforeExport = process.memoryUsage.rss()
    let exportPeak = beforeExport
    const samplingExport = setInterval(() => {
      exportPeak = Math.max(exportPeak, process.memoryUsage.rss())
    }, 20)
    const file = join(directory, 'export.zip')
    await writeExport({ dataDir: service.directory, file, timezone: 'UTC' })
    clearInterval(samplingExport)
    expect(exportPeak - beforeExport).toBeLessThan(MAX_GROWTH_BYTES)
    const plan = await service.client.get(`/api/erasures.plan?kind=import&id=${done.id}`)
    // With the name of the file.
    expect(plan.json.count).toBe(CONVERSATIONS + 1)
    await service.stop()
  },
)

test('fails an import that the memory cannot hold, and goes on', { timeout: 300_000 }, async () => {
  const service = await startWholeService()
  // V8 ends the whole process when one object gets this many keys, even in a thread with a bounded heap.
  const names = function* () {
    yield '[{"mapping":{"a":{'
    for (let from = 0; from < 9_000_000; from += 100_000)
      yield Array.from({ length: 100_000 }, (_, at) => `"k${from + at}":0,`).join('')
    yield '"end":0}}}]'
  }
  const path = await writeZip('names.zip', { 'conversations.json': names })
  const failed = { state: 'failed', reason: 'too_large' }
  expect(await over(service, await upload(service, path), 250_000)).toMatchObject(failed)
})
