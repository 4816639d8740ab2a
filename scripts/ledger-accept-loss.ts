import { createInterface } from 'node:readline/promises'
import { describeLoss, type Loss } from '../ledger/witness.ts'
import { acceptLoss, countOf } from './lib/accept-loss.ts'
import { HELD, Refused, requireLedger, runCommand } from './lib/command.ts'

const help = `npm run ledger:accept-loss [-- --events <number>]

Accepts that events are missing from the ledger of DATA_DIR, so that the service can start without them. Stop the
service first. Look for the missing file or a backup before you do this, because it is final.

Shows what is missing and asks for the number of events. The loss is recorded in the ledger and shown on the timeline.
The views are rebuilt at the next start. Nothing is sent until you release it in the browser, because
some of it may have been sent already.

  --events <number>  answers the question: the number of missing events, as shown, or "unknown" if the ledger was
                     replaced and they cannot be counted.
`

await runCommand({
  help,
  options: { events: { type: 'string' } },
  async run({ dataDir, values }) {
    requireLedger(dataDir)
    const given = values.events === undefined ? null : String(values.events)
    const loss = await acceptLoss(dataDir, (found) => confirm(found, given))
    process.stdout.write(`Accepted and recorded the loss: ${describeLoss(loss)}.\n`)
    process.stdout.write(HELD)
  },
})

async function confirm(loss: Loss, given: string | null): Promise<void> {
  process.stdout.write(`${describeLoss(loss)}.\n`)
  const wanted = countOf(loss)
  if (given === null && !process.stdin.isTTY)
    throw new Refused(`Nothing was changed. To accept it: npm run ledger:accept-loss -- --events ${wanted}`)
  const answer = given ?? (await ask('How many events do you accept as lost? '))
  if (answer.trim() !== wanted)
    throw new Refused(
      `Nothing was changed: the number of missing events is ${wanted}, not “${answer.trim()}”.`,
    )
}

async function ask(question: string): Promise<string> {
  using terminal = createInterface({ input: process.stdin, output: process.stdout })
  return await terminal.question(question)
}
