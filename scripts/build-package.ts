import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Fills build/ with what a package holds, before `npm pack`: the service as JavaScript, because Node reads no
 * TypeScript below node_modules, and the built pages. Only the types go: each line stays where it is.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const build = join(root, 'build')

rmSync(build, { recursive: true, force: true })
for (const folder of ['src', 'ledger', 'projections', 'scripts']) {
  const files = readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
  for (const file of files.filter((entry) => entry.isFile())) {
    const from = join(file.parentPath, file.name)
    const to = join(build, from.slice(root.length))
    mkdirSync(dirname(to), { recursive: true })
    if (file.name.endsWith('.ts'))
      writeFileSync(to.replace(/ts$/, 'js'), toJavaScript(readFileSync(from, 'utf8')))
    else cpSync(from, to)
  }
}
for (const path of ['web/dist', 'package.json'])
  cpSync(join(root, path), join(build, path), { recursive: true })

/** Names of files in imports and URLs are all relative. */
function toJavaScript(source: string): string {
  return stripTypeScriptTypes(source).replace(/(['"`]\.{1,2}\/[^'"`\n]*)\.ts(?=['"`])/g, '$1.js')
}
