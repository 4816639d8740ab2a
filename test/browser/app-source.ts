import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Tests read the source of the app, which only a browser can run, to notice what they do not cover. */
const source = fileURLToPath(new URL('../../web/src/', import.meta.url))

/** The addresses of all pages. */
export function pagePaths(): readonly string[] {
  const pages = readFileSync(`${source}app/pages.ts`, 'utf8')
  return [...pages.matchAll(/^ {4}path: '(.+)'/gm)].map(([, path = '']) => path)
}

const dialog = /@customElement\('(.+)'\)\s+export class \w+ extends (?:DialogElement|FormDialog)\b/g

/** The elements of all dialogs. */
export function dialogElements(): readonly string[] {
  return readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [...readFileSync(source + file, 'utf8').matchAll(dialog)])
    .map(([, name = '']) => name)
}
