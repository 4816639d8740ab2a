import { existsSync } from 'node:fs'
import { secretKeyFile } from '../src/settings/secrets.ts'
import { HELD, headLines, runCommand } from './lib/command.ts'
import { postgresOptions, pull } from './lib/engine.ts'

const help = `npm run ledger:pull -- [--ledger <id>] [--detached]

Creates DATA_DIR, which must be empty or absent, from the ledger in the PostgreSQL of LEDGER_POSTGRES_URL, with its
settings and files. Verifies the whole chain. The machine that had the ledger must not continue: if it comes back, it
stops by itself.

Nothing is sent until you release it in the browser, because the other machine may have sent it already.

  --ledger <id>  which ledger, if the database holds several.
  --detached     even if the ledger was detached. What the detached machine has added since is missing, so use it only if
                 that machine is lost.
`

await runCommand({
  help,
  options: { ledger: { type: 'string' }, detached: { type: 'boolean' } },
  async run({ dataDir, values }) {
    const head = await pull(
      dataDir,
      postgresOptions(),
      values.ledger === undefined ? null : String(values.ledger),
      values.detached === true,
    )
    process.stdout.write(`Pulled ${head.seq} events into ${dataDir}.\n${headLines(head)}`)
    process.stdout.write(HELD)
    if (!existsSync(secretKeyFile(dataDir)))
      process.stdout.write(
        'Copy the secret.key of the other machine into it, or enter the provider keys again.\n',
      )
  },
})
