import { statSync } from 'node:fs'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { describeDisk } from '../../ledger/causes.ts'
import { LedgerDamaged, LedgerLocked, LedgerUnavailable } from '../../ledger/errors.ts'
import { ledgerFile } from '../../ledger/files.ts'
import { ImportRefused } from '../../ledger/import.ts'
import { ConfigError, loadConfig } from '../../src/config.ts'
import { asCalled } from '../../src/lib/as-called.ts'
import { SettingsUnusable } from '../../src/settings/errors.ts'
import { settingsFile } from '../../src/settings/store.ts'
import { EngineRefused, OutcomeUnknown, Unreachable } from '../../src/storage/postgres/options.ts'

/** An error that the operator can do something about. */
export class Refused extends Error {
  override readonly name = 'Refused'
}

/** An error in the command line. */
export class Misused extends Error {
  override readonly name = 'Misused'
}

export type Call = {
  /** As many as the command allows. */
  readonly positionals: readonly string[]
  readonly values: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>
  /** Absolute. */
  readonly dataDir: string
  readonly ledgerDebug: boolean
}

export type Command = {
  /** What `--help` prints. */
  readonly help: string
  /** None by default. */
  readonly positionals?: { readonly min: number; readonly max: number }
  readonly options?: Readonly<
    Record<string, { readonly type: 'string' | 'boolean'; readonly multiple?: boolean }>
  >
  /** Prints its result. The exit code is 1 if it throws, else 0. */
  run(call: Call): Promise<void> | void
}

/**
 * Runs an operator's command. Exit codes: 0 done and sound, 1 refused, damaged or failed (standard error says
 * why), 2 wrong usage. SIGINT and SIGTERM end it at once, unless there is something to undo (`undoAtExit`).
 */
export async function runCommand(command: Command): Promise<void> {
  process.umask(0o077)
  // If the reader of the output is gone, the command still completes.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return
    process.stderr.write(`${describe(error)}\n`)
    process.exit(1)
  })
  let dataDir: string | undefined
  try {
    const { values, positionals } = parseCall(command)
    if (values.help === true) {
      process.stdout.write(asCalled(command.help))
      return
    }
    const config = loadConfig()
    dataDir = config.dataDir
    await command.run({ values, positionals, dataDir, ledgerDebug: config.ledgerDebug })
  } catch (error) {
    process.stderr.write(`${asCalled(describe(error, dataDir))}\n`)
    if (error instanceof Misused) process.stderr.write(`\n${asCalled(command.help)}`)
    process.exitCode = error instanceof Misused ? 2 : 1
  }
}

/** Takes the first argument, which names one of several commands. Prints all helps for --help. Exits with 2 if it names none. */
export function takeCommand<C extends Pick<Command, 'help'>>(commands: Readonly<Record<string, C>>): C {
  const [name = ''] = process.argv.splice(2, 1)
  const command = commands[name]
  if (command !== undefined) return command
  if (name === '--help' || name === '-h') {
    const helps = Object.values(commands).map(({ help }) => help)
    process.stdout.write(asCalled(helps.join('\n')))
    process.exit(0)
  }
  process.stderr.write(`The first argument must be one of ${Object.keys(commands).join(', ')}.\n`)
  process.exit(2)
}

/** Calls `undo` when the process ends, even by SIGINT or SIGTERM, which now wait until the event loop is free. */
export function undoAtExit(undo: () => void): void {
  // `on`, not `once`: npm and the terminal both send the signal, and the second must not interrupt `undo`.
  process
    .on('SIGINT', () => process.exit(130))
    .on('SIGTERM', () => process.exit(143))
    .once('exit', undo)
}

function parseCall({ options, positionals: { min, max } = { min: 0, max: 0 } }: Command) {
  const config = {
    options: { ...options, help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
  } satisfies ParseArgsConfig
  try {
    const { values, positionals } = parseArgs(config)
    const given: Call['values'] = values
    const isCount = positionals.length >= min && positionals.length <= max
    if (given.help !== true && !isCount) throw new Misused('Wrong number of arguments.')
    return { values: given, positionals }
  } catch (error) {
    // Node explains an unknown option further, which nobody here needs.
    if (error instanceof TypeError) throw new Misused(`${error.message.split('. ', 1)[0]}.`, { cause: error })
    throw error
  }
}

const UNCONFIRMED =
  'PostgreSQL did not confirm what was written, so it may be there or not. ' +
  'If it has a synchronous standby, see that it runs. Then run this command again.'

/** What an error means for the operator. */
export function describe(error: unknown, dataDir?: string): string {
  if (error instanceof LedgerLocked) return 'The service is running. Stop it first.'
  if (error instanceof ImportRefused) return `Nothing was imported: ${error.message}.`
  if (error instanceof LedgerDamaged)
    return `DAMAGED${error.seq === null ? '' : ` at event ${error.seq}`}: ${error.message}`
  const isSentence =
    error instanceof Refused ||
    error instanceof Misused ||
    error instanceof ConfigError ||
    error instanceof LedgerUnavailable ||
    error instanceof SettingsUnusable ||
    error instanceof EngineRefused ||
    error instanceof Unreachable
  if (isSentence) return error.message
  if (error instanceof OutcomeUnknown) return UNCONFIRMED
  // Only errors of PostgreSQL have a severity. Theirs is a phrase.
  if (error instanceof Error && 'severity' in error) return `PostgreSQL refused this: ${error.message}.`
  const disk = describeDisk(error, dataDir)
  if (disk !== null) return disk
  const isFileError = error instanceof Database.SqliteError || (error instanceof Error && 'syscall' in error)
  if (error instanceof Error) return isFileError ? error.message : (error.stack ?? error.message)
  return String(error)
}

/** After what brings a ledger back, whose last facts may be missing. */
export const HELD = 'Nothing is sent until you choose “Release outgoing work” in the browser.\n'

/** Throws Refused if the directory has no ledger, and the system's error if this account may not look. */
export function requireLedger(dataDir: string): void {
  if (!isThere(ledgerFile(dataDir)))
    throw new Refused(`There is no ledger in ${dataDir}. Set DATA_DIR to its directory.`)
}

/** The same for a directory that a service has used. */
export function requireService(dataDir: string): void {
  if (!isThere(settingsFile(dataDir)))
    throw new Refused(`There is no service in ${dataDir}. Set DATA_DIR to its directory.`)
}

/** Not `existsSync`, which says the same of a file that this account may not see. */
export const isThere = (file: string): boolean => statSync(file, { throwIfNoEntry: false }) !== undefined

/** The ledger's id and head, to be kept elsewhere and compared later. */
export function headLines(head: { ledgerId: string; seq: number; hash: string }): string {
  return `ledger ${head.ledgerId}\nhead   ${head.seq} ${head.hash}\n`
}
