import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A memory file system if there is one: these tests sync thousands of commits, and none cuts the power. */
export const TEST_ROOT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** An empty directory, removed after the test together with the working directory of its tasks. */
export function testDirectory(): string {
  const directory = mkdtempSync(join(TEST_ROOT, 'delegate-test-'))
  onTestFinished(() => {
    for (const path of [directory, `${directory}-work`]) rmSync(path, { recursive: true, force: true })
  })
  return directory
}

/** All files below a directory, sorted. */
export function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

/** A digest and the mode of each file; equal before and after means unchanged. */
export function digests(directory: string): Record<string, string> {
  return Object.fromEntries(
    filesIn(directory).map((file) => [
      file,
      `${createHash('sha256').update(readFileSync(file)).digest('hex')} ${statSync(file).mode.toString(8)}`,
    ]),
  )
}

/** The files that contain a word in UTF-8 or UTF-16. */
export function filesHolding(directory: string, word: string): string[] {
  if (!existsSync(directory)) return []
  return filesIn(directory).filter((file) => {
    const bytes = readFileSync(file)
    return bytes.includes(word, 0, 'utf8') || bytes.includes(word, 0, 'utf16le')
  })
}
