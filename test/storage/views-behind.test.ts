import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { viewsFile } from '../../ledger/files.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestStorage } from '../support/storage.ts'
import { said } from '../support/writer.ts'

test('holds an append until the views are writable, although its fact is on disk', async () => {
  const directory = testDirectory()
  const storage = await openTestStorage(directory)
  await storage.append([said('before')])
  const inViews = storage.views.prepare<[], { seq: number }>('SELECT max(lastSeq) AS seq FROM timeline_runs')
  const blocker = new Database(viewsFile(directory))
  blocker.exec('BEGIN IMMEDIATE')
  try {
    const isInViews: boolean[] = []
    const appending = ['meanwhile', 'and again'].map(async (text, index) => {
      await storage.append([said(text, { key: text })])
      isInViews.push((inViews.get()?.seq ?? 0) >= 2 + index)
    })
    const repeated = storage.append([said('meanwhile', { key: 'meanwhile' })])
    await expect.poll(() => storage.ledger.head().seq).toBe(3)
    await expect.poll(() => storage.warnings.length).toBe(1)
    expect(isInViews).toEqual([])
    blocker.exec('COMMIT')
    await Promise.all(appending)
    expect(isInViews).toEqual([true, true])
    expect(await repeated).toMatchObject({ status: 'duplicate', existing: { seq: 2 } })
  } finally {
    blocker.close()
  }
})
