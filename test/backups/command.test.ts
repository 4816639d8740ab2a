import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runBackupCommand } from '../../src/backups/command.ts'
import { testDirectory } from '../support/directory.ts'

const LONG = 'sleep 600'
const environment = { PATH: process.env.PATH ?? '' }
const forever = new AbortController().signal

test('returns when the command has exited, and ends what it left in the background', async () => {
  const file = join(testDirectory(), 'pid')
  const command = `${LONG} & echo $! > ${file}; exit 0`
  expect(await runBackupCommand(command, environment, forever, { onError: () => undefined })).toBeNull()
  const child = Number(readFileSync(file, 'utf8'))
  await expect.poll(() => isRunning(child)).toBe(false)
})

test('ends a command that takes too long', async () => {
  const options = { onError: () => undefined, limitMs: 200 }
  expect(await runBackupCommand(`${LONG}; exit 0`, environment, forever, options)).toContain('took too long')
})

test('ends with the signal', async () => {
  const file = join(testDirectory(), 'started')
  const closing = new AbortController()
  const ran = runBackupCommand(`touch ${file}; ${LONG}`, environment, closing.signal, {
    onError: () => undefined,
  })
  await expect.poll(() => existsSync(file)).toBe(true)
  closing.abort(new Error('closing'))
  await expect(ran).rejects.toThrow('closing')
})

test('reports the end of what a failed command wrote', async () => {
  const written: string[] = []
  const command = 'yes long | head -c 1000000 >&2; echo end >&2; exit 7'
  const failure = await runBackupCommand(command, environment, forever, {
    onError: (text) => void written.push(text),
  })
  expect(failure).toBe('BACKUP_COMMAND failed with exit code 7.')
  expect(written).toEqual([expect.stringMatching(/long\nend\n$/)])
  expect(written[0]?.length).toBeLessThanOrEqual(2_000)
})

/** Whether a process runs. One that has ended may stay as a zombie until its parent asks for its result. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
