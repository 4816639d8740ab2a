import { existsSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { closing } from '../ledger/closing.ts'
import { openLedgerReadOnly } from '../ledger/files.ts'
import { createReader } from '../ledger/reader.ts'
import { loadConfig } from '../src/config.ts'
import { asCalled } from '../src/lib/as-called.ts'
import type { SecurityCheck } from '../src/operations/security/check.ts'
import { checkSecurity } from '../src/operations/security/security.ts'
import { createFactorStore } from '../src/settings/factor-store.ts'
import { INSTALLED_KEY } from '../src/settings/owner-account.ts'
import { openSecretBox } from '../src/settings/secrets.ts'
import { createSettings, type Settings } from '../src/settings/settings.ts'
import { copySettingsStore } from '../src/settings/store.ts'
import { createIsolation } from '../src/tasks/isolation.ts'
import { Refused, requireLedger, requireService, runCommand } from './lib/command.ts'
import { readableDirectory } from './lib/readable.ts'

const help = `npm run doctor

Checks what protects the service of DATA_DIR, as its Security page does: encryption, proxy, sign-in, files, isolation of
tasks, webhooks, daily limits. Read-only; the service may be running.

Run it as the account of the service and with its environment, because it checks these, too. Exits with 1 if there is
something to mend.
`

const MARKS = { ok: 'ok      ', warning: 'warning ', problem: 'PROBLEM ' } as const

await runCommand({
  help,
  async run({ dataDir }) {
    const found = statSync(dataDir, { throwIfNoEntry: false })
    if (found && found.uid !== process.getuid?.())
      throw new Refused(`${dataDir} belongs to another account. Run this command as that account.`)
    requireService(dataDir)
    requireLedger(dataDir)
    const config = loadConfig()
    using store = closing(copySettingsStore(dataDir))
    const settings = createSettings({
      store,
      secrets: openSecretBox(dataDir),
      environment: config.settings,
      append: () => Promise.reject(new Error('this command changes no settings')),
      onWarning: (message) => process.stderr.write(`${message}\n`),
    })
    const isolation = createIsolation({
      ...config.taskIsolation,
      dataDir: realpathSync(dataDir),
      environment: () => config.copilotEnvironment,
    })
    const checks = await checkSecurity(
      {
        directory: dataDir,
        settings,
        config,
        lacksPassword: () => store.passwordHash() === null && isInstalled(dataDir),
        signInFactors: createFactorStore(store).kinds,
        async isolation() {
          const [program] = config.copilotCommand ?? []
          if (program === undefined) return null
          return isThere(program, config.copilotEnvironment.PATH) ? isolation() : missing(program)
        },
      },
      { origin: null, undeclaredProxies: null },
    )
    for (const check of checks) process.stdout.write(asCalled(lineOf(check)))
    process.stdout.write(backupLine(settings))
    const toMend = checks.filter(({ status }) => status !== 'ok').length
    process.stdout.write(`\n${toMend === 0 ? 'Nothing to mend.' : `To mend: ${toMend}.`}\n`)
    if (toMend > 0) process.exitCode = 1
  },
})

function missing(program: string) {
  const reason = `${program} of COPILOT_COMMAND is not there.`
  return { way: null, reason, remedy: 'Install it, or correct COPILOT_COMMAND or PATH in the environment.' }
}

function isThere(program: string, path = ''): boolean {
  // Relative to the directory of the task, which may not exist yet.
  if (program.includes('/') && !isAbsolute(program)) return true
  return path.split(':').some((directory) => existsSync(resolve(directory, program)))
}

function isInstalled(dataDir: string): boolean {
  using ledger = closing(openLedgerReadOnly(readableDirectory(dataDir)))
  return createReader(ledger).rowByKey(INSTALLED_KEY) !== undefined
}

/** A hint, not something to mend: backups may be made in another way. */
function backupLine({ get }: Pick<Settings, 'get'>): string {
  const [directory, passphrase] = [get('BACKUP_DIRECTORY'), get('BACKUP_PASSPHRASE')]
  const isOn = directory !== null && passphrase !== null
  return isOn
    ? `hint    Backups: made each day in ${directory}.\n`
    : 'hint    Backups: off. Choose a directory and a passphrase under Settings, Backups.\n'
}

function lineOf({ status, title, detail, remedy }: SecurityCheck): string {
  return `${MARKS[status]}${title}: ${detail}${remedy === null ? '' : `\n        ${remedy}`}\n`
}
