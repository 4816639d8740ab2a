import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { LedgerDamaged, LedgerLocked } from '../ledger/errors.ts'
import { ledgerFile } from '../ledger/files.ts'
import { createIds } from '../ledger/ids.ts'
import { ConfigError, loadConfig } from '../src/config.ts'
import { SettingsUnusable } from '../src/settings/errors.ts'
import { openOwnerState } from '../src/settings/open.ts'
import { newPasswordSchema } from '../src/settings/password-policy.ts'
import { openStorage } from '../src/storage/storage.ts'

/** What the operator can do something about. */
class Refused extends Error {
  override readonly name = 'Refused'
}

/**
 * Sets a new password without the old one, for whoever has the shell, and ends every session. The password comes
 * from standard input (one line), is asked for at a terminal, or is made where none is given.
 */
async function main(): Promise<void> {
  const config = loadConfig()
  if (!existsSync(ledgerFile(config.dataDir))) {
    throw new Refused(`There is no service in ${config.dataDir}. DATA_DIR says where it is.`)
  }
  const storage = await openStorage({
    directory: config.dataDir,
    nowMs: Date.now,
    newId: createIds(Date.now),
    onWarning: warn,
    onFatal: (error) => {
      throw error
    },
  })
  try {
    const owner = openOwnerState({
      directory: config.dataDir,
      environment: config.settings,
      append: storage.append,
      hasFact: (key) => storage.ledger.rowByKey(key) !== undefined,
      nowMs: Date.now,
      newId: createIds(Date.now),
      onWarning: warn,
    })
    try {
      if (!owner.account.isInstalled())
        throw new Refused('The service is not installed yet; open /install instead.')
      const given = await readPassword()
      const password = given === '' ? randomBytes(15).toString('base64url') : given
      const parsed = newPasswordSchema.safeParse(password)
      if (!parsed.success) throw new Refused(`The password ${parsed.error.issues[0]?.message}.`)
      if ((await owner.account.resetPassword(password)) !== 'changed') {
        throw new Refused('The password is among those that are tried first; choose another.')
      }
      process.stdout.write(given === '' ? `The new password is: ${password}\n` : 'The password is changed.\n')
      process.stdout.write('Every session has ended.\n')
    } finally {
      owner.close()
    }
  } finally {
    await storage.close()
  }
}

/** One line from standard input; at a terminal it is asked for, and not shown. */
async function readPassword(): Promise<string> {
  if (!process.stdin.isTTY) return (await text(process.stdin)).split(/\r?\n/)[0] ?? ''
  process.stdout.write('New password (empty to have one made): ')
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true })
  try {
    return await terminal.question('')
  } finally {
    terminal.close()
    process.stdout.write('\n')
  }
}

function warn(message: string): void {
  // A lost password is why this is run; the hint to run it would only confuse.
  if (!message.includes('owner:reset-password')) process.stderr.write(`${message}\n`)
}

main().catch((error: unknown) => {
  if (error instanceof LedgerLocked) {
    process.stderr.write('The service is running. Stop it first.\n')
  } else if (
    error instanceof Refused ||
    error instanceof ConfigError ||
    error instanceof LedgerDamaged ||
    error instanceof SettingsUnusable
  ) {
    process.stderr.write(`${error.message}\n`)
  } else {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  }
  process.exitCode = 1
})
