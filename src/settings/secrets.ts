import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { syncDirectory } from '../../ledger/files.ts'
import { SettingsUnusable } from './errors.ts'

export const secretKeyFile = (directory: string): string => join(directory, 'secret.key')

const KEY_BYTES = 32
/** NIST SP 800-38D, 5.2.1.1: random 96-bit nonces are safe for far more writes than settings get. */
const NONCE_BYTES = 12
const TAG_BYTES = 16
const FORMAT = 'v1'

export type SecretBox = ReturnType<typeof openSecretBox>

/** Encrypts secrets in the settings database. Its key is in another file, so a copy of one is useless. */
export function openSecretBox(directory: string) {
  const file = secretKeyFile(directory)
  let key: Buffer | null = null
  findKey()

  /** Also finds a key that was put back while the service runs. */
  function findKey(): Buffer | null {
    key ??= existsSync(file) ? readKey(file) : null
    return key
  }

  function theKey(): Buffer {
    if (key === null) throw new SettingsUnusable(`${file} is missing`)
    return key
  }

  return {
    /** False while there is no key: then sealed values cannot be opened. */
    hasKey: () => findKey() !== null,
    /** Creates a key if there is none, durably on disk before anything is sealed with it. */
    makeKey(): void {
      if (findKey() !== null) return
      const made = randomBytes(KEY_BYTES)
      writeKey(file, made)
      syncDirectory(directory)
      key = made
    },
    /** AES-256-GCM with the setting's name as associated data, so that sealed values cannot be swapped. */
    seal(name: string, secret: string): string {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', theKey(), nonce)
      cipher.setAAD(Buffer.from(name))
      const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
      return `${FORMAT}.${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')}`
    },
    /** Throws SettingsUnusable if the key is wrong or the value was altered. */
    open(name: string, sealed: string): string {
      const [format, text = ''] = sealed.split('.')
      const bytes = Buffer.from(text, 'base64url')
      if (format !== FORMAT || bytes.length < NONCE_BYTES + TAG_BYTES) {
        throw new SettingsUnusable(`The stored value of ${name} is damaged.`)
      }
      const nonce = bytes.subarray(0, NONCE_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', theKey(), nonce, { authTagLength: TAG_BYTES })
      decipher.setAAD(Buffer.from(name))
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      try {
        return (
          decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
        )
      } catch (cause) {
        throw new SettingsUnusable(
          `${file} is not the key that ${name} was encrypted with. Put the right key back, or remove the file ` +
            'to start without the secrets and enter them again.',
          { cause },
        )
      }
    },
  }
}

function readKey(file: string): Buffer {
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64url')
  if (key.length === KEY_BYTES) return key
  throw new SettingsUnusable(`${file} does not contain a key. Put the right file back, or remove it.`)
}

/** Writes the key atomically, because a partial key, as a full disk leaves, would block every start. */
function writeKey(file: string, key: Buffer): void {
  const partial = `${file}.partial`
  try {
    writeFileSync(partial, `${key.toString('base64url')}\n`, { mode: 0o600, flush: true })
    renameSync(partial, file)
  } finally {
    rmSync(partial, { force: true })
  }
}
