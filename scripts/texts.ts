import { readFileSync, writeFileSync } from 'node:fs'
import { englishTexts } from './lib/texts.ts'

/**
 * `npm run texts`: collects the texts of the code into the catalogues: adds new ones without a translation, and removes
 * those that are no longer used. With `--check`, changes nothing, and fails if a text lacks its translation.
 */
const file = new URL('../src/language/de.json', import.meta.url)
const known: Record<string, string> = JSON.parse(readFileSync(file, 'utf8'))
const used = [...englishTexts()].filter((text) => /\p{L}/u.test(text)).sort()
const wanted = Object.fromEntries(used.map((english) => [english, known[english] ?? '']))

if (process.argv.includes('--check')) {
  const missing = used.filter((english) => !known[english] || placesOf(english) !== placesOf(known[english]))
  const stale = Object.keys(known).filter((english) => !(english in wanted))
  for (const text of missing) process.stderr.write(`Not in German, or with other values: ${text}\n`)
  for (const text of stale) process.stderr.write(`No longer used: ${text}\n`)
  if (missing.length + stale.length > 0) {
    process.stderr.write('Run `npm run texts`, and translate in src/language/de.json.\n')
    process.exitCode = 1
  }
} else {
  writeFileSync(file, `${JSON.stringify(wanted, null, 2)}\n`)
}

/** The numbered places of a text, which a translation may order otherwise. */
function placesOf(text: string): string {
  return [...new Set(text.match(/\{\d+\}/g))].sort().join()
}
