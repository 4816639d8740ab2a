import { createInterface } from 'node:readline/promises'
import { describeLoss, type Loss } from '../ledger/witness.ts'
import { acceptLoss, countOf } from './lib/accept-loss.ts'
import { Refused, requireLedger, runCommand } from './lib/command.ts'

const help = `npm run ledger:accept-loss [-- --events <number>]

Goes on without events that are missing from the ledger of DATA_DIR. Stop the service first, and look for the missing
file or a backup before: what is accepted as lost is not looked for again.

Shows what is missing and asks for the number of events. The loss becomes a fact in the ledger, which the timeline
shows. The views are made anew at the next start, and nothing is sent out until you release it
(POST /api/outbound/release): what was sent may be among what is missing.

  --events <number>  the number of missing events, as it is shown, instead of the question; "unknown" where the ledger
                     was replaced and nobody can count them.
`

await runCommand({
  help,
  positionals: { min: 0, max: 0 },
  options: { events: { type: 'string' } },
  async run({ dataDir, values }) {
    requireLedger(dataDir)
    const given = values.events === undefined ? null : String(values.events)
    const loss = await acceptLoss(dataDir, (found) => confirm(found, given))
    process.stdout.write(`The loss is accepted and recorded: ${describeLoss(loss)}.\n`)
    process.stdout.write('Nothing is sent out until you release it: POST /api/outbound/release.\n')
  },
})

async function confirm(loss: Loss, given: string | null): Promise<void> {
  process.stdout.write(`${describeLoss(loss)}.\n`)
  const wanted = countOf(loss)
  if (given === null && !process.stdin.isTTY)
    throw new Refused(`Nothing was changed. To accept it: npm run ledger:accept-loss -- --events ${wanted}`)
  const said = given ?? (await ask('How many events do you accept as lost? '))
  if (said.trim() !== wanted)
    throw new Refused(`Nothing was changed: the number of missing events is ${wanted}, not “${said.trim()}”.`)
}

async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return await terminal.question(question)
  } finally {
    terminal.close()
  }
}
