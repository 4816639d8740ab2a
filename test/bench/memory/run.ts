import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { TEST_ROOT } from '../../support/directory.ts'
import { add } from './add.ts'
import { type Figures, measure } from './measure.ts'
import { extractingModel } from './model.ts'
import { playMonth } from './play.ts'
import { calibrationPlot } from './plot.ts'
import { personas, readMonth } from './read-month.ts'
import { report } from './report.ts'

const modes = ['model', 'gullible', 'builtin'] as const

const { values } = parseArgs({
  options: {
    mode: { type: 'string', multiple: true, default: [...modes] },
    persona: { type: 'string', multiple: true, default: [...personas] },
    json: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
const totals = new Map<string, Figures>()
for (const mode of modes.filter((each) => values.mode.includes(each))) {
  for (const persona of personas.filter((each) => values.persona.includes(each))) {
    const month = readMonth(persona)
    const directory = mkdtempSync(join(TEST_ROOT, 'delegate-month-'))
    const utility =
      mode === 'builtin' ? null : extractingModel(month, mode === 'gullible' ? 'gullible' : 'competent')
    try {
      const { figures, complaints } = measure(await playMonth(month, { utility, directory }))
      if (values.verbose) for (const each of complaints) console.log(`${mode}, ${persona}: ${each}`)
      const before = totals.get(mode)
      totals.set(mode, before ? add(before, figures) : figures)
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  }
}
console.log(report(totals))
if (values.write) {
  const page = new URL('../../../docs/benchmarks/memory.md', import.meta.url)
  const figures = `<!-- begin figures -->\n\n${report(totals)}\n\n<!-- end figures -->`
  writeFileSync(
    page,
    readFileSync(page, 'utf8').replace(/<!-- begin figures -->.*<!-- end figures -->/s, () => figures),
  )
  writeFileSync(new URL('memory-calibration.svg', page), calibrationPlot(totals))
}
if (values.json) console.log(JSON.stringify(Object.fromEntries(totals)))
