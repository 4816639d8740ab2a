import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { catalogue } from '../../ledger/events/catalogue.ts'
import { syncDirectory } from '../../ledger/files.ts'
import { FORMAT_VERSION } from '../../ledger/schema.ts'
import { parseJson } from '../lib/parse-json.ts'

/** The file that names the build that used a data directory last. */
const FILE = 'build.json'

const buildSchema = z.object({
  version: z.string(),
  /** Null outside of a checkout. */
  commit: z.string().nullable(),
  /** The format of a new ledger. */
  ledger: z.int(),
  /** The format of settings.sqlite. */
  settings: z.int(),
  /** The version of each event type that the build writes. */
  events: z.record(z.string(), z.int()),
})

/** A build, as far as what it writes to a data directory depends on it. */
export type Build = z.output<typeof buildSchema>

/** What the service says of its own build; the rest follows from the code. */
export type OwnBuild = Pick<Build, 'version' | 'commit' | 'settings'>

export const describeBuild = ({ version, commit, settings }: OwnBuild): Build => ({
  version,
  commit,
  ledger: FORMAT_VERSION,
  settings,
  events: Object.fromEntries(Object.entries(catalogue).map(([type, each]) => [type, each.version])),
})

/** The version, with the short commit if there is one. */
export function nameOf({ version, commit }: Build): string {
  return commit === null ? version : `${version} (commit ${commit.slice(0, 7)})`
}

/** The build that used the directory last; null if that is not known. */
export function lastBuild(directory: string): Build | null {
  const file = join(directory, FILE)
  if (!existsSync(file)) return null
  return buildSchema.safeParse(parseJson(readFileSync(file, 'utf8'))).data ?? null
}

/** Records the build, durable on return. Call it before the build writes anything else that another might not know. */
export function recordBuild(directory: string, build: Build): void {
  const content = `${JSON.stringify(build, null, 2)}\n`
  const file = join(directory, FILE)
  if (existsSync(file) && readFileSync(file, 'utf8') === content) return
  writeFileSync(`${file}.new`, content, { mode: 0o600, flush: true })
  renameSync(`${file}.new`, file)
  syncDirectory(directory)
}

/** Whether both write the same things. */
export const writesAlike = (one: Build, other: Build): boolean =>
  JSON.stringify(written(one)) === JSON.stringify(written(other))

const written = ({ ledger, settings, events }: Build) => [ledger, settings, Object.entries(events).sort()]
