import { type IncomingHttpHeaders, type RequestOptions, request } from 'node:http'
import { connect, type Socket } from 'node:net'

export type Answer = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of any shape.
  readonly json: any
}

export type Client = ReturnType<typeof createClient>

type Options = {
  readonly headers?: Record<string, string>
  /** The loopback address that the request comes from. */
  readonly from?: string
}

/** A minimal browser: keeps its session cookie and follows no redirects. */
export function createClient(port: number) {
  let cookie: string | undefined

  async function send(
    method: string,
    path: string,
    content?: unknown,
    options: Options = {},
  ): Promise<Answer> {
    const text = typeof content === 'string' || content === undefined ? content : JSON.stringify(content)
    const isChunked = options.headers?.['transfer-encoding'] !== undefined
    const headers: Record<string, string> = {
      ...(cookie === undefined ? {} : { cookie }),
      ...(text === content ? {} : { 'content-type': 'application/json' }),
      ...(text === undefined || isChunked ? {} : { 'content-length': String(Buffer.byteLength(text)) }),
      ...options.headers,
    }
    const answer = await exchange(
      {
        port,
        host: '127.0.0.1',
        method,
        path,
        headers,
        ...(options.from ? { localAddress: options.from } : {}),
      },
      text,
    )
    const [set] = answer.headers['set-cookie'] ?? []
    const [, value] = set?.match(/^delegate_session=([^;]*)/) ?? []
    if (value !== undefined) cookie = value === '' ? undefined : `delegate_session=${value}`
    return answer
  }

  return {
    send,
    get: (path: string, options?: Options) => send('GET', path, undefined, options),
    post: (path: string, content?: unknown, options?: Options) => send('POST', path, content, options),
    put: (path: string, content?: unknown, options?: Options) => send('PUT', path, content, options),
    delete: (path: string, options?: Options) => send('DELETE', path, undefined, options),
    cookie: () => cookie,
    useCookie(value: string | undefined) {
      cookie = value
    },
  }
}

function exchange(options: RequestOptions, content: string | undefined): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ ...options, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parse(text) })
      })
    })
    sent.on('error', reject)
    sent.end(content)
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Sends bytes exactly as given. Resolves to everything received once the connection closes. */
export function raw(port: number, text: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket: Socket = connect(port, '127.0.0.1', () => socket.write(text))
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1')
    })
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' ? undefined : reject(error),
    )
    socket.on('close', () =>
      resolve({ status: Number(answer.match(/^HTTP\/1\.1 (\d{3})/)?.[1] ?? 0), text: answer }),
    )
  })
}

/** Sends a request line that no URL parser has normalised. */
export function rawGet(
  port: number,
  target: string,
  headers = '',
): Promise<{ status: number; text: string }> {
  return raw(port, `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n${headers}\r\n`)
}
