import { closeSync, openSync, writeSync } from 'node:fs'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { viewsFile } from '../../ledger/files.ts'
import { startWholeService } from '../support/service.ts'

const PAGE_BYTES = 4096

test('is alive but not ready while the views are damaged, and recovers by itself', async () => {
  const { client, directory } = await startWholeService()
  await client.post('/api/chat', { content: 'Remember that my cat is called Otto.' })
  const db = new Database(viewsFile(directory))
  const pages = db
    .prepare<[], { pageno: number }>("SELECT pageno FROM dbstat WHERE name <> 'sqlite_schema'")
    .all()
  db.pragma('wal_checkpoint(TRUNCATE)')
  const file = openSync(viewsFile(directory), 'r+')
  for (const { pageno } of pages)
    writeSync(file, Buffer.alloc(PAGE_BYTES, 0xa5), 0, PAGE_BYTES, (pageno - 1) * PAGE_BYTES)
  // A write makes connections reread their cached pages.
  db.pragma('user_version = 5')
  closeSync(file)
  db.close()
  const answers: number[] = []
  expect((await client.get('/health')).status).toBe(200)
  await expect
    .poll(async () => {
      answers.push((await client.get('/ready')).status)
      return (await client.get('/api/timeline')).text
    })
    .toContain('called Otto')
  await expect.poll(async () => (await client.get('/ready')).status).toBe(200)
  expect(answers.filter((status) => status !== 200 && status !== 503)).toEqual([])
})
