import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Decrypter, Encrypter } from 'age-encryption'
import { create, extract } from 'tar'
import { syncDirectory } from '../../ledger/files.ts'
import { ADAPTATIONS_DIRECTORY } from '../../src/adaptations/files.ts'
import { markdownFilePattern } from '../../src/lib/markdown-files.ts'
import { SETTINGS_FILE } from '../../src/settings/store.ts'
import { MANIFEST } from '../../src/storage/backup.ts'
import { Refused } from './command.ts'

/** The manifest comes first. */
const FILES = [MANIFEST, 'ledger.sqlite', SETTINGS_FILE]

export type SealedFile = {
  readonly bytes: number
  /** SHA-256 of the file, in hexadecimal. */
  readonly digest: string
}

/**
 * Packs the directory of a backup into one file: tar, gzip, then age with a passphrase, so `age -d` also opens it.
 * `workFactor` is log2 of scrypt's cost parameter N. The file gets its name once it is complete and on disk. Throws
 * Refused if a file of that name exists.
 */
export async function sealBackup(
  directory: string,
  file: string,
  passphrase: string,
  workFactor: number,
): Promise<SealedFile> {
  const present = readdirSync(directory)
  const names = [...FILES, ADAPTATIONS_DIRECTORY].filter((name) => present.includes(name))
  const encrypter = new Encrypter()
  encrypter.setPassphrase(passphrase)
  encrypter.setScryptWorkFactor(workFactor)
  const packed = create({ cwd: directory, gzip: true, portable: true, strict: true }, names)
  const sealed = await encrypter.encrypt(streamOf(packed))
  const partial = join(dirname(file), `.${basename(file)}.partial-${process.pid}`)
  const measure = createMeasure()
  try {
    const target = createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true })
    await pipeline(measure.through(sealed), target)
    if (existsSync(file)) throw new Refused(`There is already a file ${basename(file)}.`)
    renameSync(partial, file)
    syncDirectory(dirname(file))
    return measure.result()
  } finally {
    rmSync(partial, { force: true })
  }
}

/**
 * Unpacks such a file into a new directory, for `readManifest`. Throws Refused, in a sentence, if the
 * passphrase is wrong, or if the file was changed or is no backup.
 */
export async function openSealedBackup(
  file: string,
  directory: string,
  passphrase: string,
): Promise<SealedFile> {
  const decrypter = new Decrypter()
  decrypter.addPassphrase(passphrase)
  const measure = createMeasure()
  mkdirSync(directory, { mode: 0o700 })
  try {
    const packed = await decrypter.decrypt(streamOf(measure.through(createReadStream(file))))
    const target = extract({
      cwd: directory,
      strict: true,
      filter: (path, entry) => 'type' in entry && isExpected(path, entry.type),
    })
    // Not a pipeline: it ends with `close`, which comes before the last bytes are written.
    const written = new Promise<void>((resolve, reject) => {
      target.on('finish', resolve).on('error', reject)
    })
    const fed = async () => {
      for await (const chunk of packed) if (!target.write(Buffer.from(chunk))) await once(target, 'drain')
      target.end()
    }
    await Promise.all([fed(), written])
    return measure.result()
  } catch (error) {
    throw refusalOf(error) ?? error
  }
}

/** A web stream, which the library needs. Reads on demand, so that no more than a few chunks are in memory. */
function streamOf(chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const next = await iterator.next()
      if (next.done === true) controller.close()
      else controller.enqueue(next.value)
    },
    async cancel() {
      await iterator.return?.()
    },
  })
}

/** Measures the bytes that pass through. */
function createMeasure() {
  const digest = createHash('sha256')
  let bytes = 0
  return {
    async *through(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const chunk of chunks) {
        digest.update(chunk)
        bytes += chunk.length
        yield chunk
      }
    },
    result: (): SealedFile => ({ bytes, digest: digest.digest('hex') }),
  }
}

/** Only what a backup contains is written: no links, and nothing outside the directory. */
function isExpected(path: string, type: string): boolean {
  const [folder, name = '', ...deeper] = path.split('/')
  if (folder !== ADAPTATIONS_DIRECTORY) return type === 'File' && FILES.includes(path)
  if (name === '') return type === 'Directory'
  return type === 'File' && deeper.length === 0 && markdownFilePattern.test(name)
}

const WRONG_PASSPHRASE = 'The passphrase is not the one that this backup was made with.'
const CHANGED = 'This file is no backup, or it is damaged. Use another one.'

/** Null if the disk is at fault. */
function refusalOf(error: unknown): Refused | null {
  if (!(error instanceof Error) || 'syscall' in error) return null
  if (error.message.startsWith('no identity matched')) return new Refused(WRONG_PASSPHRASE, { cause: error })
  return new Refused(CHANGED, { cause: error })
}
