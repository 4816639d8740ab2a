import { randomBytes } from 'node:crypto'
import { closing } from '../ledger/closing.ts'
import { createIds } from '../ledger/ids.ts'
import { loadConfig, postgresOf } from '../src/config.ts'
import { openOwnerState } from '../src/settings/index.ts'
import { newPasswordSchema } from '../src/settings/new-password.ts'
import { openStorage } from '../src/storage/storage.ts'
import { Refused, requireLedger, runCommand } from './lib/command.ts'
import { readSecret } from './lib/typed-secret.ts'

const help = `npm run owner:reset-password [-- --keep-factors]

Sets a new password for the service of DATA_DIR without asking for the old one, ends every session, and removes the
authenticator app, recovery codes and passkeys, so that the new password is enough to sign in. Stop the service first.

--keep-factors  Keeps them: sign in with the new password and a code, or with a passkey.

Reads the password from the first line of standard input; at a terminal, it asks for the password and does not show it.
If you give none, it generates and prints one.
`

const names = {
  totp: 'the authenticator app',
  recovery_codes: 'the recovery codes',
  passkey: 'every passkey',
}

await runCommand({
  help,
  options: { 'keep-factors': { type: 'boolean' } },
  async run({ dataDir, values }) {
    requireLedger(dataDir)
    const config = loadConfig()
    const newId = createIds(Date.now)
    const storage = await openStorage({
      directory: dataDir,
      postgres: postgresOf(config),
      onStandby: ({ holder, fault }) => stop(holder, fault),
      nowMs: Date.now,
      newId,
      onWarning: warn,
      onFatal: (error) => {
        throw error
      },
    })
    try {
      using owner = closing(
        openOwnerState({
          directory: dataDir,
          environment: config.settings,
          append: storage.append,
          hasFact: (key) => storage.ledger.rowByKey(key) !== undefined,
          nowMs: Date.now,
          newId,
          onWarning: warn,
        }),
      )
      if (!owner.account.isInstalled())
        throw new Refused('The service is not installed yet. Open /install instead.')
      const given = await readSecret(
        'New password (empty to generate one): ',
        'No password was given. Nothing was changed.',
      )
      const password = given === '' ? randomBytes(15).toString('base64url') : given
      const parsed = newPasswordSchema.safeParse(password)
      if (!parsed.success) throw new Refused(`The password ${parsed.error.issues[0]?.message}.`)
      if ((await owner.account.resetPassword(password)) !== 'changed')
        throw new Refused('The password is too common; choose another.')
      const made = `The new password is: ${password}\n`
      process.stdout.write(given === '' ? made : 'The password was changed.\n')
      process.stdout.write('Every session has ended.\n')
      const removed = values['keep-factors'] === true ? [] : await owner.factors.removeAll()
      if (removed.length > 0)
        process.stdout.write(
          `Removed: ${removed.map((kind) => names[kind]).join(', ')}. Add them again in the settings.\n`,
        )
    } finally {
      await storage.close()
    }
  },
})

function warn(message: string): void {
  // The user is already running the command that this hint recommends.
  if (!message.includes('owner:reset-password')) process.stderr.write(`${message}\n`)
}

/** Another machine holds the ledger, or PostgreSQL does not answer. Ends at once, because it would wait for either. */
function stop(holder: string | null, fault: string | null): never {
  const why =
    fault ?? `${holder ?? 'another machine'} may write to the ledger. Stop Delegate on every machine first.`
  process.stderr.write(`Nothing was changed: ${why}\n`)
  process.exit(1)
}
