import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { ledgerFile } from '../../ledger/files.ts'
import { openTestWriter, said } from '../support/writer.ts'

export type Ran = { readonly code: number | null; readonly out: string; readonly err: string }

/** Nothing of the tests' own environment but what finds programs, and compiles them once. */
export const CLEAN_ENVIRONMENT = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
}

export const scriptFile = (name: string): string =>
  fileURLToPath(new URL(`../../scripts/${name}.ts`, import.meta.url))

/** Starts an operator's script in a process of its own, as npm would. */
export function startScript(
  name: string,
  dataDir: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
) {
  return spawn(process.execPath, [scriptFile(name), ...args], {
    env: { ...CLEAN_ENVIRONMENT, DATA_DIR: dataDir, ...environment },
  })
}

/** Runs an operator's script and waits for its end. */
export function runScript(
  name: string,
  dataDir: string,
  args: readonly string[] = [],
  more: { readonly input?: string; readonly environment?: Readonly<Record<string, string>> } = {},
): Promise<Ran> {
  return new Promise((resolve) => {
    const child = startScript(name, dataDir, args, more.environment)
    let out = ''
    let err = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      out += chunk
    })
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      err += chunk
    })
    child.on('close', (code) => resolve({ code, out, err }))
    child.stdin.end(more.input ?? '')
  })
}

/** The ledger's id and head as a script prints them. */
export const headOf = (output: string) => /^ledger \w+\nhead {3}\d+ [0-9a-f]{64}$/m.exec(output)?.[0]

/** A stopped directory of `count` messages, of which 3 and 5 were erased; then one more. */
export function fillDirectory(directory: string, count: number): void {
  const writer = openTestWriter(directory)
  writer.append(
    ...Array.from({ length: count }, (_, index) =>
      said(`needle ${index + 1} ${'straw '.repeat(20)}`, { conversationId: 'c', spanId: `s${index % 4}` }),
    ),
  )
  writer.forget(3, 5)
  writer.append(said('the last straw'))
  writer.settle()
  writer.close()
}

/** Changes one byte of a file. */
export function flipByte(file: string, offset: number): void {
  const bytes = readFileSync(file)
  bytes[offset] = (bytes[offset] ?? 0) ^ 0xff
  writeFileSync(file, bytes)
}

/** Changes a stopped ledger as the owner of the file could, and restores the guards. */
export function tamper(directory: string, sql: string): void {
  const db = new Database(ledgerFile(directory))
  const guards = db
    .prepare<[], { name: string; sql: string }>("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
    .all()
  for (const { name } of guards) db.exec(`DROP TRIGGER ${name}`)
  db.exec(sql)
  for (const guard of guards) db.exec(guard.sql)
  db.close()
}
