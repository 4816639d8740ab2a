import * as z from 'zod'
import type { StaticFiles } from './static-files.ts'

/** Vite's manifest: the file of each module, and its imports. */
const MODULES_FILE = '/modules.json'

const modulesSchema = z.record(
  z.string(),
  z.object({ file: z.string(), imports: z.array(z.string()).optional() }),
)

/**
 * The `Link` header (RFC 8288) that makes a browser load these modules and all their imports while it reads
 * the page, instead of discovering them one after the other. Null if the build does not list them.
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
