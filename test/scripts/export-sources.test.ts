import { copyFileSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ledgerFile } from '../../ledger/files.ts'
import { writeZip } from '../imports/exports.ts'
import { damagePages } from '../support/damage.ts'
import { testDirectory } from '../support/directory.ts'
import { rowsIn } from '../support/salvaging.ts'
import { fillDirectory, headOf, runScript } from './run-script.ts'

/** A stopped directory, and its export in the forms that the browser's download can have. */
async function exported() {
  const directory = testDirectory()
  fillDirectory(directory, 100)
  const { out, err } = await runScript('ledger-export', directory, ['-'])
  const zip = await writeZip('E.ZIP', { 'README.md': () => ['# About'], 'ledger.jsonl': () => [out] })
  const plain = join(testDirectory(), 'export')
  copyFileSync(zip, plain)
  const unpacked = testDirectory()
  writeFileSync(join(unpacked, 'README.md'), '# About')
  writeFileSync(join(unpacked, 'ledger.jsonl'), out)
  return { directory, head: headOf(err), forms: [zip, plain, unpacked] }
}

test('imports the export of the browser under any name, and once it is unpacked', async () => {
  const { head, forms } = await exported()
  for (const form of forms) {
    const { code, out, err } = await runScript('ledger-import', join(testDirectory(), 'data'), [form])
    expect([code, headOf(out), err]).toEqual([0, head, ''])
  }
})

test('fills a damaged ledger from the export of the browser, as a zip or unpacked', async () => {
  const { directory, forms } = await exported()
  const rows = rowsIn(directory)
  damagePages(ledgerFile(directory), [{ kind: 'zeros', page: 10, other: 0 }])
  for (const form of forms.slice(1)) {
    const target = join(testDirectory(), 'data')
    const { code, out, err } = await runScript('ledger-salvage', directory, [target, '--from', form])
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^The ledger is complete\.$/m)
    // With what says that it was salvaged.
    expect(rowsIn(target).slice(0, rows.length)).toEqual(rows)
  }
})

test('says that a zip on standard input, or one without a ledger, is not read', async () => {
  const target = join(testDirectory(), 'data')
  const piped = await runScript('ledger-import', target, ['-'], { input: 'PK\u0003\u0004\u0014\u0000' })
  expect([piped.code, piped.err]).toEqual([1, 'Standard input is a zip. Name the file instead.\n'])
  const other = await writeZip('other.zip', { 'a.txt': () => ['a'] })
  for (const [script, args] of [
    ['ledger-import', [other]],
    ['ledger-salvage', [target, '--from', other]],
  ] as const) {
    const { code, err } = await runScript(script, join(testDirectory(), 'other'), args)
    expect([code, err]).toEqual([1, `${other} has no ledger.jsonl, so it is not an export of Delegate.\n`])
  }
  expect(existsSync(target)).toBe(false)
})
