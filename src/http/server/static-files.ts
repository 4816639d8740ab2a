import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip, constants as zlib } from 'node:zlib'
import { getMimeType } from 'hono/utils/mime'
import type { HttpContext } from './env.ts'

/** The built web app in memory. Requests only name its keys, which rules out path traversal. */
export type StaticFiles = ReadonlyMap<string, StaticFile>

/** The single page of the web app. */
export const SHELL_FILE = '/index.html'

export type StaticFile = {
  readonly content: Uint8Array<ArrayBuffer>
  readonly type: string
  readonly etag: string
  /** The name changes with the content, so browsers may cache the file forever. */
  readonly isHashed: boolean
  /** The copy that the build made, or else compressed on first use and cached. */
  compressed(encoding: 'br' | 'gzip'): Promise<Uint8Array<ArrayBuffer>>
}

/** Suffixes of the compressed copies that the build writes. They are not served as files of their own. */
const COPIES = { br: '.br', gzip: '.gz' } as const

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
  const files = new Map<string, StaticFile>()
  for (const [path, content] of contents) {
    if (Object.values(COPIES).some((end) => path.endsWith(end) && contents.has(path.slice(0, -end.length))))
      continue
    files.set(
      path,
      createFile(path, content, (encoding) => contents.get(path + COPIES[encoding])),
    )
  }
  return files
}

function absentAsEmpty(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return []
  throw error
}

/** Smaller files fit into one packet uncompressed. */
export const WORTH_COMPRESSING_BYTES = 1_400

function createFile(
  path: string,
  content: Uint8Array<ArrayBuffer>,
  copy: (encoding: 'br' | 'gzip') => Uint8Array<ArrayBuffer> | undefined,
): StaticFile {
  const cached = new Map<string, Promise<Uint8Array<ArrayBuffer>>>()
  return {
    content,
    type: getMimeType(path) ?? 'application/octet-stream',
    etag: `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`,
    // Vite puts files that it names by content into assets/.
    isHashed: path.startsWith('/assets/'),
    async compressed(encoding) {
      const built = copy(encoding)
      if (built) return built
      const result = cached.get(encoding) ?? compress(content, encoding)
      cached.set(encoding, result)
      return result
    },
  }
}

async function compress(content: Uint8Array, encoding: 'br' | 'gzip'): Promise<Uint8Array<ArrayBuffer>> {
  const result =
    encoding === 'br'
      ? await promisify(brotliCompress)(content, { params: { [zlib.BROTLI_PARAM_QUALITY]: 9 } })
      : await promisify(gzip)(content, { level: 9 })
  return new Uint8Array(result)
}

/** Serves a file, or 304 if the browser has it cached. */
export async function serveFile(
  c: HttpContext,
  file: StaticFile,
  status: 200 | 404 = 200,
): Promise<Response> {
  const headers: Record<string, string> = {
    'content-type': file.type,
    'cache-control': file.isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag: file.etag,
    vary: 'accept-encoding',
  }
  if (status === 200 && c.req.header('if-none-match') === file.etag) return c.body(null, 304, headers)
  const encoding = chooseEncoding(c.req.header('accept-encoding') ?? '', file)
  if (encoding === null) return c.body(file.content, status, headers)
  return c.body(await file.compressed(encoding), status, { ...headers, 'content-encoding': encoding })
}

function chooseEncoding(accepted: string, file: StaticFile): 'br' | 'gzip' | null {
  if (file.content.length < WORTH_COMPRESSING_BYTES || !/^text\/|json|svg|javascript/.test(file.type))
    return null
  if (/\bbr\b(?!\s*;\s*q=0(?:\D|$))/.test(accepted)) return 'br'
  return /\bgzip\b(?!\s*;\s*q=0(?:\D|$))/.test(accepted) ? 'gzip' : null
}
