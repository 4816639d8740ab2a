import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getMimeType } from 'hono/utils/mime'
import { languageNow } from '../../language/msg.ts'
import type { HttpContext } from './env.ts'

/** The built web app in memory. Requests only name its keys, which rules out path traversal. */
export type StaticFiles = ReadonlyMap<string, StaticFile>

/** The single page of the web app, in English. */
export const SHELL_FILE = '/index.html'

/** The page in the language of the request; undefined if the web app is not built. */
export const shellOf = (files: StaticFiles): StaticFile | undefined => inLanguageOf(files, SHELL_FILE)

/** The copy of a page in the language of the request, which the build wrote beside the English one. */
export function inLanguageOf(files: StaticFiles, page: string): StaticFile | undefined {
  return files.get(page.replace('.html', `.${languageNow()}.html`)) ?? files.get(page)
}

/** Whether it is the page of the web app in some language. */
export const isShellFile = (path: string): boolean => /^\/index\..*html$/.test(path)

export type StaticFile = {
  readonly content: Uint8Array<ArrayBuffer>
  readonly type: string
  readonly etag: string
  /** The name changes with the content, so browsers may cache the file forever. */
  readonly isHashed: boolean
  /** The compressed copies that the build made of it, if any. */
  readonly copies: { readonly [E in 'br' | 'gzip']: Uint8Array<ArrayBuffer> | undefined }
}

/** Reads what `npm run build:web` wrote. */
export const loadWebApp = (): Promise<StaticFiles> =>
  loadStaticFiles(fileURLToPath(new URL('../../../web/dist', import.meta.url)))

/** Reads all files under a directory, without dotfiles and links. Empty if there is no directory. */
export async function loadStaticFiles(directory: string): Promise<StaticFiles> {
  const contents = new Map<string, Uint8Array<ArrayBuffer>>()
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(absentAsEmpty)
  await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => {
        const file = join(entry.parentPath, entry.name)
        const path = `/${relative(directory, file).split(sep).join('/')}`
        if (path.includes('/.')) return
        contents.set(path, new Uint8Array(await readFile(file)))
      }),
  )
  return new Map(
    [...contents]
      // Compressed copies are not served as files of their own.
      .filter(([path]) => !/\.(?:br|gz)$/.test(path))
      .map(([path, content]) => [
        path,
        {
          content,
          type: getMimeType(path) ?? 'application/octet-stream',
          etag: `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`,
          // Vite puts files that it names by content into assets/.
          isHashed: path.startsWith('/assets/'),
          copies: { br: contents.get(`${path}.br`), gzip: contents.get(`${path}.gz`) },
        },
      ]),
  )
}

function absentAsEmpty(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return []
  throw error
}

/** Serves a file, or 304 if the browser has it cached. */
export function serveFile(c: HttpContext, file: StaticFile, status: 200 | 404 = 200): Response {
  const headers: Record<string, string> = {
    'content-type': file.type,
    'cache-control': file.isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag: file.etag,
    vary: 'accept-encoding',
    ...(file.type.startsWith('text/html') && {
      vary: 'accept-encoding, accept-language',
      'content-language': languageNow(),
    }),
  }
  if (status === 200 && c.req.header('if-none-match') === file.etag) return c.body(null, 304, headers)
  const accepted = (c.req.header('accept-encoding') ?? '').split(',').map((name) => name.trim())
  const encoding = (['br', 'gzip'] as const).find((name) => file.copies[name] && accepted.includes(name))
  const copy = encoding && file.copies[encoding]
  if (!copy) return c.body(file.content, status, headers)
  return c.body(copy, status, { ...headers, 'content-encoding': encoding })
}
