import * as z from 'zod'
import type { StaticFiles } from './static-files.ts'

/** Which files the build made of which modules, and what each imports: Vite's manifest. */
const MODULES_FILE = '/modules.json'

const modulesSchema = z.record(
  z.string(),
  z.object({ file: z.string(), imports: z.array(z.string()).optional() }),
)

/**
 * The `Link` header (RFC 8288) by which a browser fetches these modules of the web app, and all that they import, while
 * it still reads the page: otherwise it learns of them one after the other, by running what comes before. Null where
 * the build says nothing of them.
 */
export function preloadHeader(staticFiles: StaticFiles, modules: readonly string[]): string | null {
  const content = staticFiles.get(MODULES_FILE)?.content
  if (!content) return null
  const known = modulesSchema.parse(JSON.parse(new TextDecoder().decode(content)))
  const files = new Set<string>()
  const visit = (name: string): void => {
    const module = known[name]
    if (!module || files.has(module.file)) return
    files.add(module.file)
    for (const imported of module.imports ?? []) visit(imported)
  }
  for (const module of modules) visit(module)
  return files.size === 0 ? null : [...files].map((file) => `</${file}>; rel=modulepreload`).join(', ')
}
