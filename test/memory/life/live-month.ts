import { extractingModel } from '../../bench/memory/model.ts'
import { live, openLife } from '../../bench/memory/play.ts'
import { readMonth } from '../../bench/memory/read-month.ts'

// Lives a month from where its ledger ends, and writes a dot before each message, by which the trial kills it.
const [persona = '', directory = ''] = process.argv.slice(2)
const month = readMonth(persona)
const mind = await openLife({ directory, utility: extractingModel(month, 'competent') })
await live(mind, month, () => process.stdout.write('.'))
await mind.close()
