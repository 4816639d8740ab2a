import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Memory where there is a file system in it: these tests sync thousands of commits, and none of them cuts the power. */
export const TEST_ROOT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** An empty directory that goes with the test, and with it the directory that tasks of its service work in. */
export function testDirectory(): string {
  const directory = mkdtempSync(join(TEST_ROOT, 'delegate-test-'))
  onTestFinished(() => {
    for (const path of [directory, `${directory}-work`]) rmSync(path, { recursive: true, force: true })
  })
  return directory
}

/** Every file below a directory, by its path in it. */
export function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

/** What each file of a directory holds, as digests: equal before and after means untouched. */
export function digests(directory: string): Record<string, string> {
  return Object.fromEntries(
    filesIn(directory).map((file) => [
      file,
      `${createHash('sha256').update(readFileSync(file)).digest('hex')} ${statSync(file).mode.toString(8)}`,
    ]),
  )
}

/** The files in which a word stands, in UTF-8 and in UTF-16. */
export function filesHolding(directory: string, word: string): string[] {
  if (!existsSync(directory)) return []
  return filesIn(directory).filter((file) => {
    const bytes = readFileSync(file)
    return bytes.includes(word, 0, 'utf8') || bytes.includes(word, 0, 'utf16le')
  })
}
