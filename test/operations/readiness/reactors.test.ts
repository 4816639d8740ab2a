import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { viewsFile } from '../../../ledger/files.ts'
import { testDirectory } from '../../support/directory.ts'
import { startWholeService, type WholeService } from '../../support/service.ts'

const ready = async ({ client }: WholeService) => {
  const { status, json } = await client.get('/ready')
  return { status, reactors: json.checks.reactors }
}

function changeViews(directory: string, sql: string): void {
  const views = new Database(viewsFile(directory))
  views.exec(sql)
  views.close()
}

test('is not ready while a reactor keeps failing, and shows its name, backlog and last failure', async () => {
  const directory = testDirectory()
  await (await startWholeService({ directory })).stop()
  // An ended task without an event, so that announcing it keeps failing.
  changeViews(
    directory,
    `INSERT INTO tasks (taskId, dispatchedSeq, status, notify, timeoutMinutes, by, dispatchedAt, lastAt, endedSeq)
     VALUES ('lost', 1000000, 'finished', 'chat', 1, 'owner', '2030-01-01', '2030-01-01', 1000000)`,
  )
  const service = await startWholeService({ directory })
  await expect
    .poll(() => ready(service))
    .toMatchObject({
      status: 503,
      reactors: {
        ok: false,
        detail: expect.stringMatching(/^announcements: .*last failure at .*seq that does not exist/),
      },
    })
  const { json } = await service.client.get('/api/session/health')
  expect(json.reactors).toContainEqual(
    expect.objectContaining({ name: 'announcements', state: 'failing', waiting: 1 }),
  )
  expect(json.reactors.filter(({ state }: { state: string }) => state !== 'ok')).toHaveLength(1)
  changeViews(directory, "DELETE FROM tasks WHERE taskId = 'lost'")
  await expect.poll(() => ready(service)).toMatchObject({ status: 200 })
})

test('is not ready while learning is stalled', async () => {
  const service = await startWholeService()
  // Of all readers of the recall index, only learning needs it.
  changeViews(service.directory, 'ALTER TABLE recall_index RENAME TO recall_index_away')
  await service.client.post('/api/chat', { content: 'My sister is called Ada.' })
  await expect
    .poll(() => ready(service))
    .toEqual({
      status: 503,
      reactors: {
        ok: false,
        detail: expect.stringMatching(/^learning: 1 waiting since .*, last failure at .*recall_index/),
      },
    })
})
