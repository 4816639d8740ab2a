import { chmodSync, copyFileSync, existsSync, rmSync, statSync } from 'node:fs'
import { join, resolve, sep } from 'node:path'
import Database from 'better-sqlite3'
import { closing } from '../../ledger/closing.ts'
import { findDamage } from '../../ledger/damage.ts'
import { messageOf } from '../../ledger/errors.ts'
import type { FactsOf } from '../../ledger/events/catalogue.ts'
import { examineLedger } from '../../ledger/examine.ts'
import { exportHeaderSchema } from '../../ledger/export.ts'
import { ledgerFile } from '../../ledger/files.ts'
import { createIds } from '../../ledger/ids.ts'
import { openLedger } from '../../ledger/ledger.ts'
import { type Chain, createChain } from '../../ledger/salvage/chain.ts'
import { type Found, openFound } from '../../ledger/salvage/found.ts'
import { collectPages, type Missing, settleErasures, writeSalvaged } from '../../ledger/salvage/salvage.ts'
import { readHeadNote } from '../../ledger/witness.ts'
import { ADAPTATIONS_DIRECTORY } from '../../src/adaptations/files.ts'
import { secretKeyFile } from '../../src/settings/secrets.ts'
import { settingsFile, WITHOUT_SETTINGS } from '../../src/settings/store.ts'
import { copyMarkdown } from '../../src/storage/backup.ts'
import { createRemote } from '../../src/storage/postgres/remote.ts'
import { Refused } from './command.ts'
import { postgresOptions } from './engine.ts'
import { isUnpackedExport, openExport } from './export-source.ts'
import { linesOf } from './lines.ts'
import { stateOf } from './readable.ts'
import { closeWhole, openStaging } from './staging.ts'

export type Salvaged = {
  readonly head: ReturnType<typeof examineLedger>
  /** Events that were saved, those from other sources included. */
  readonly saved: number
  readonly filled: number
  readonly missing: readonly Missing[]
  /** Whether `ledger.head` says where the ledger ended, and it ended there. */
  readonly isEndKnown: boolean
  /** What the operator should know beside that. */
  readonly hints: readonly string[]
}

const COMMITTED =
  'PostgreSQL committed every event of this ledger: npm run ledger:pull creates a complete directory.'

type Source = FactsOf<'ledger.salvaged'>['sources'][number]

const PAGE_ROWS = 2000

/**
 * Saves what the chain of hashes proves of the damaged ledger in `dataDir` into the new directory `target`, with the
 * settings and adaptation files. Fills gaps from `sources`: directories, exports, or `postgres`. Changes nothing in
 * `dataDir`. Throws Refused if nothing can be saved.
 */
export async function salvage(
  dataDir: string,
  target: string,
  sources: readonly string[],
): Promise<Salvaged> {
  if (`${resolve(target)}${sep}`.startsWith(`${resolve(dataDir)}${sep}`))
    throw new Refused('Choose a new directory outside DATA_DIR: nothing in it is changed.')
  // A mistyped source is refused before the ledger is read.
  const kinds = [...new Set(sources.map(kindOf))]
  const staging = openStaging(resolve(target))
  try {
    using found = closing(openFound(join(staging.directory, 'found.sqlite')))
    const gathered = await gather(dataDir, sources, found, join(staging.directory, 'pages.sqlite'))
    const { chain, meta, note, filled } = gathered
    const newId = createIds(Date.now)
    const ledger = openLedger(staging.directory, () => gathered.ledgerId ?? newId())
    try {
      const at = new Date().toISOString()
      const missing = writeSalvaged(ledger, found, chain, { ...gathered, sources: kinds, newId, at })
      const lost = missing.reduce((sum, { firstSeq, lastSeq }) => sum + lastSeq - firstSeq + 1, 0)
      const saved = chain.last() - lost
      if (saved === 0) throw new Refused('Nothing could be saved: no event is proven by its hash.')
      for (const name of ['engine', 'epoch']) {
        const value = meta.get(name)
        if (value !== undefined) ledger.setMeta(name, value)
      }
      const head = examineLedger(ledger.db, ledgerFile(staging.directory))
      closeWhole(ledger)
      const beside = await copyBeside(dataDir, staging.directory, target)
      staging.publish([...beside.names, 'ledger.sqlite'])
      const isEndKnown = note !== null && chain.hashOf(note.seq) === note.hash
      const hints = meta.get('engine') === 'commit' ? [COMMITTED, ...beside.hints] : beside.hints
      return { head, saved, filled, missing, isEndKnown, hints }
    } finally {
      ledger.close()
    }
  } finally {
    staging.discard()
  }
}

/** Finds all copies of events, and chooses those that the chain proves. */
async function gather(dataDir: string, sources: readonly string[], found: Found, scratch: string) {
  const before = stateOf(dataDir)
  const { meta, erasedBy: own } = collectPages(ledgerFile(dataDir), scratch, (raw) => found.add(raw, 0))
  if (stateOf(dataDir) !== before) throw new Refused(`${dataDir} changed meanwhile. Stop the service.`)
  const chain = createChain(found)
  chain.followLedger()
  const headNote = readHeadNote(dataDir)
  let ledgerId = meta.get('ledgerId') ?? headNote?.ledgerId ?? null
  const note = headNote?.ledgerId === ledgerId ? headNote : null
  if (note) chain.expect(note)
  const erasedBy = new Map(own)
  let filled = 0
  for (const [index, source] of sources.entries()) {
    const collected = await collect(source, { found, chain, origin: index + 1, scratch, ledgerId })
    if (ledgerId !== null && collected.ledgerId !== null && collected.ledgerId !== ledgerId)
      throw new Refused(`${source} holds another ledger: ${collected.ledgerId}.`)
    ledgerId ??= collected.ledgerId
    collected.erasedBy?.forEach((by, seq) => void erasedBy.set(seq, by))
    filled += chain.fill(index + 1)
  }
  return { chain, meta, note, ledgerId, filled, eraseAgain: settleErasures(found, chain, erasedBy) }
}

type Collected = { readonly ledgerId: string | null; readonly erasedBy?: ReadonlyMap<number, number> }

function kindOf(source: string): Source {
  if (source === 'postgres') return 'postgres'
  const found = statSync(source, { throwIfNoEntry: false })
  if (!found) throw new Refused(`${source} does not exist.`)
  return found.isDirectory() && !isUnpackedExport(source) ? 'directory' : 'export'
}

/** Adds the missing events of a source to those found. */
async function collect(
  source: string,
  parts: {
    readonly found: Found
    readonly chain: Chain
    readonly origin: number
    readonly scratch: string
    readonly ledgerId: string | null
  },
): Promise<Collected> {
  const { found, chain, origin, scratch, ledgerId } = parts
  const add = (raw: Readonly<Record<string, unknown>>) => {
    if (chain.ref(Number(raw.seq)) === undefined) found.add(raw, origin)
  }
  switch (kindOf(source)) {
    case 'directory': {
      if (!existsSync(ledgerFile(source))) throw new Refused(`There is no ledger in ${source}.`)
      const { meta, erasedBy } = collectPages(ledgerFile(source), scratch, add)
      return { ledgerId: meta.get('ledgerId') ?? null, erasedBy }
    }
    case 'export':
      return { ledgerId: await collectLines(source, add) }
    case 'postgres': {
      if (ledgerId === null) throw new Refused('The id of the ledger is lost. Name a backup before postgres.')
      using remote = closing(createRemote(postgresOptions(), ledgerId))
      if (!(await remote.ledger())) throw new Refused(`This database has no ledger ${ledgerId}.`)
      for (const { firstSeq, lastSeq } of [...chain.gaps(), chain.end()]) {
        for (let seq = firstSeq - 1; seq < lastSeq; ) {
          const rows = await remote.rowsAfter(seq, PAGE_ROWS)
          rows.forEach(add)
          seq = rows.at(-1)?.seq ?? lastSeq
        }
      }
      return { ledgerId }
    }
  }
}

/** Skips lines that are damaged. Returns the id of the ledger, if the header has it. Throws Refused if no line is JSON. */
async function collectLines(
  file: string,
  add: (raw: Readonly<Record<string, unknown>>) => void,
): Promise<string | null> {
  let ledgerId: string | null = null
  let isExport = false
  for await (const line of linesOf(await openExport(file))) {
    try {
      const json: unknown = JSON.parse(line)
      isExport = true
      const header = exportHeaderSchema.safeParse(json)
      if (header.success) ledgerId = header.data.ledgerId
      else if (typeof json === 'object' && json !== null) add({ ...json })
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
    }
  }
  if (!isExport)
    throw new Refused(
      `${file} is no export. Restore an encrypted backup into a new directory first (npm run restore), and name that one.`,
    )
  return ledgerId
}

/** Copies what lies beside the ledger, as far as it is sound. */
async function copyBeside(dataDir: string, directory: string, target: string) {
  const names: string[] = []
  const hints: string[] = []
  const adaptations = await copyMarkdown(ADAPTATIONS_DIRECTORY, dataDir, directory)
  if (adaptations.length > 0) names.push(ADAPTATIONS_DIRECTORY)
  const damage = copySettings(dataDir, directory)
  if (damage === null) names.push('settings.sqlite')
  else hints.push(`settings.sqlite is left out: ${damage}. ${WITHOUT_SETTINGS}`)
  if (existsSync(secretKeyFile(dataDir)) && !existsSync(secretKeyFile(target))) {
    copyFileSync(secretKeyFile(dataDir), secretKeyFile(directory))
    names.push('secret.key')
  }
  return { names, hints }
}

/** Returns why there are no settings; null if they are copied. */
function copySettings(dataDir: string, directory: string): string | null {
  const [from, to] = [settingsFile(dataDir), settingsFile(directory)]
  if (!existsSync(from)) return 'there is none'
  try {
    for (const suffix of ['', '-wal', '-journal']) {
      if (!existsSync(`${from}${suffix}`)) continue
      copyFileSync(`${from}${suffix}`, `${to}${suffix}`)
      chmodSync(`${to}${suffix}`, 0o600)
    }
    using copy = closing(new Database(to))
    copy.pragma('journal_mode = DELETE')
    const damage = findDamage(copy)
    if (damage !== null) throw new Error(damage)
    return null
  } catch (error) {
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${to}${suffix}`, { force: true })
    return messageOf(error).split('\n', 1).join('')
  }
}
