import { ledgerFile } from '../ledger/files.ts'
import { asCalled } from '../src/lib/as-called.ts'
import { openSecretBox, secretKeyFile } from '../src/settings/secrets.ts'
import { relate } from '../src/storage/postgres/catch-up.ts'
import { privileges } from '../src/storage/postgres/migrate.ts'
import type { PostgresOptions } from '../src/storage/postgres/options.ts'
import { DETACHED } from '../src/storage/postgres/remote.ts'
import { HELD, isThere, Refused, requireLedger, runCommand, takeCommand } from './lib/command.ts'
import {
  copyToPostgres,
  createTables,
  detach,
  detachAlone,
  postgresOptions,
  promote,
  readStatus,
  requireNoOther,
  withBoth,
} from './lib/engine.ts'

/** `npm run engine:…`: the commands for a ledger in PostgreSQL. The first argument names one. */
type EngineCommand = {
  readonly help: string
  readonly options?: Readonly<Record<string, { readonly type: 'boolean' }>>
  run(dataDir: string, options: () => PostgresOptions, isSet: (option: string) => boolean): Promise<void>
}

const commands: Readonly<Record<string, EngineCommand>> = {
  init: {
    help: `npm run engine:init [-- --another-ledger]

Creates the tables in the PostgreSQL of LEDGER_POSTGRES_URL, or brings them up to date, and copies the ledger of DATA_DIR
into it with its settings and files. Stop the service first. Needs an account that may create a schema, and prints what
the account of the service needs. Run it again after an upgrade that asks for it. Creates secret.key if there is none,
so that you can copy it to other machines.

  --another-ledger  if the database holds the ledgers of others, too. Without it, a database with another ledger is
                    refused, because DATA_DIR may be the wrong one.
`,
    options: { 'another-ledger': { type: 'boolean' } },
    async run(dataDir, postgres, isSet) {
      const options = postgres()
      const applied = await createTables(options)
      print(applied.length === 0 ? 'The tables are up to date.' : `Applied: ${applied.join(', ')}.`)
      const isNew = !isThere(ledgerFile(dataDir))
      if (!isSet('another-ledger')) await requireNoOther(isNew ? null : dataDir, options)
      const copied = await copyToPostgres(dataDir, options)
      if (isNew) print(`A new, empty ledger was created in ${dataDir}.`)
      openSecretBox(dataDir).makeKey()
      print(`Copied ${copied} events. What opens the secrets stays here: ${secretKeyFile(dataDir)}.`)
      print(
        `\nThe account of the service, here called delegate, needs these privileges:\n\n${privileges('delegate')}`,
      )
    },
  },
  status: {
    help: `npm run engine:status

Shows the role of this machine, how far it and PostgreSQL are apart (lag), both heads, the epoch, who may write, until
when, and the other machines.
`,
    run: async (dataDir, options) => {
      requireLedger(dataDir)
      print(await readStatus(dataDir, options()))
    },
  },
  promote: {
    help: `npm run engine:promote

Ends the lease of the machine that may write now, even while it runs: it stops, and a standby takes over within two
seconds. A machine that fails is replaced without this command.
`,
    async run(dataDir, options) {
      requireLedger(dataDir)
      print(`The lease is free. This is epoch ${await promote(dataDir, options())}.`)
    },
  },
  repair: {
    help: `npm run engine:repair -- --push-local

For a PostgreSQL that lacks the last events of this machine, for example because a standby without them was promoted or an
older state restored: adds them to it. Without the option, says how the two differ and changes nothing. Stop the service
on every machine first: a standby would take over without these events.
`,
    options: { 'push-local': { type: 'boolean' } },
    async run(dataDir, postgres, isSet) {
      const options = postgres()
      requireLedger(dataDir)
      const [relation, seq] = await withBoth(dataDir, options, async (ledger, remote) => [
        await relate(remote, ledger),
        ledger.head().seq,
      ])
      if (relation.kind === 'forked')
        throw new Refused(`The two ledgers differ from event ${relation.seq} on. Nothing is merged.`)
      const ends = `PostgreSQL ends with event ${relation.remote.headSeq}, this machine with event ${seq}.`
      if (relation.kind !== 'ahead') return print(`${ends} There is nothing to repair.`)
      if (!isSet('push-local'))
        return print(`${ends} To add the missing ones: npm run engine:repair -- --push-local`)
      print(`Added ${await copyToPostgres(dataDir, options)} events to PostgreSQL.`)
    },
  },
  detach: {
    help: `npm run engine:detach [-- --without-postgres]

Makes DATA_DIR the only home of the ledger again: takes over what PostgreSQL has, and keeps other machines from writing
there. Stop the service on every machine first, then unset LEDGER_POSTGRES_MODE. While a machine may write, it refuses.

  --without-postgres  if PostgreSQL is lost for good: asks it nothing. What only PostgreSQL had is lost, so do it on the
                      machine whose ledger has the most events (npm run ledger:verify). Nothing is sent until you
                      release it in the browser, because it may have been sent already.
`,
    options: { 'without-postgres': { type: 'boolean' } },
    async run(dataDir, options, isSet) {
      requireLedger(dataDir)
      if (isSet('without-postgres')) {
        const { seq } = await detachAlone(dataDir)
        print(`${dataDir} keeps its ${seq} events. What only PostgreSQL had is lost.`)
        print('Unset LEDGER_POSTGRES_MODE, and start the service.')
        return void process.stdout.write(HELD)
      }
      const { seq, isForked } = await detach(dataDir, options())
      if (isForked)
        return print(
          `${dataDir} keeps its ${seq} events, and PostgreSQL its own. Unset LEDGER_POSTGRES_MODE, and start the service.`,
        )
      print(`${dataDir} has all ${seq} events. Unset LEDGER_POSTGRES_MODE, and start the service.`)
      print(`In PostgreSQL the holder is now ${DETACHED}. npm run engine:init attaches this machine again.`)
    },
  },
}

const command = takeCommand(commands)

await runCommand({
  help: command.help,
  ...(command.options && { options: command.options }),
  run: ({ dataDir, values }) => command.run(dataDir, postgresOptions, (option) => values[option] === true),
})

function print(text: string): void {
  process.stdout.write(`${asCalled(text)}\n`)
}
