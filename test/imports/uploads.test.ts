import { existsSync, readdirSync, readFileSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { createUploads } from '../../src/imports/uploads.ts'
import { testDirectory } from '../support/directory.ts'
import { mountSmallDisk } from '../support/small-disk.ts'

const MIB = 1024 * 1024

function openUploads(dataDir: string) {
  let ids = 0
  return createUploads({
    dataDir,
    newId: () => {
      ids += 1
      return `upload${ids}`
    },
  })
}

test('ends an upload that does not fit, and frees what it took', async (context) => {
  const disk = mountSmallDisk(20)
  if (!disk) return context.skip('this process may not mount a file system')
  const uploads = openUploads(disk.directory)
  await uploads.begin('export.zip', 2 * MIB)
  await uploads.write('upload1', 0, Buffer.alloc(MIB, 'a'))
  disk.fill()
  const filler = join(disk.directory, '..', 'filler')
  // The first half of the piece fits.
  truncateSync(filler, readFileSync(filler).length - MIB / 2)
  expect(await uploads.write('upload1', MIB, Buffer.alloc(MIB, 'b'))).toBe('disk_full')
  expect([uploads.list(), readdirSync(join(disk.directory, 'imports'))]).toEqual([[], []])
})

test('counts what other uploads will still take, and refuses one that does not fit beside them', async (context) => {
  const disk = mountSmallDisk(20)
  if (!disk) return context.skip('this process may not mount a file system')
  const uploads = openUploads(disk.directory)
  expect(await uploads.begin('export.zip', 6 * MIB)).toMatchObject({ importId: 'upload1' })
  expect(await uploads.begin('export.zip', 6 * MIB)).toBe('disk_full')
  uploads.files.remove('upload1')
  expect(await uploads.begin('export.zip', 6 * MIB)).toMatchObject({ importId: 'upload2' })
})

test('removes an upload that nobody continues for an hour', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const dataDir = testDirectory()
    const uploads = openUploads(dataDir)
    await uploads.begin('export.zip', 3)
    vi.advanceTimersByTime(50 * 60_000)
    await uploads.write('upload1', 0, Buffer.from('a'))
    vi.advanceTimersByTime(50 * 60_000)
    expect(uploads.list()).toMatchObject([{ importId: 'upload1', receivedBytes: 1 }])
    vi.advanceTimersByTime(11 * 60_000)
    expect([uploads.list(), readdirSync(join(dataDir, 'imports'))]).toEqual([[], []])
  } finally {
    vi.useRealTimers()
  }
})

test('keeps a complete file until its import has started, so that its last piece can be sent again', async () => {
  const dataDir = testDirectory()
  const uploads = openUploads(dataDir)
  await uploads.begin('export.zip', 3)
  const complete = { importId: 'upload1', receivedBytes: 3, bytes: 3 }
  expect(await uploads.write('upload1', 0, Buffer.from('abc'))).toMatchObject(complete)
  expect(await uploads.write('upload1', 0, Buffer.from('abc'))).toMatchObject(complete)
  uploads.started('upload1')
  expect(uploads.list()).toEqual([])
  expect(readFileSync(join(dataDir, 'imports', 'upload1'), 'utf8')).toBe('abc')
  uploads.files.remove('upload1')
  expect(existsSync(join(dataDir, 'imports', 'upload1'))).toBe(false)
})
