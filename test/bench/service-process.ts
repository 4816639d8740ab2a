import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startEnvironment, startFlags } from '../support/start-flags.ts'
import { UNLIMITED } from './service.ts'

const PASSWORD = 'a long walk by the river'

/**
 * The service in its own process over its own directory (or `DATA_DIR`), installed and signed in. The client
 * keeps its connection open, as a browser does. Client and double do not add to the service's time.
 */
export async function startServiceProcess(environment: Record<string, string>) {
  const directory = mkdtempSync(join(tmpdir(), 'delegate-bench-'))
  const child = spawn(process.execPath, [...startFlags(), join(import.meta.dirname, '../../src/main.ts')], {
    env: {
      ...process.env,
      ...startEnvironment(),
      ...UNLIMITED,
      DATA_DIR: directory,
      PORT: '0',
      LOG_LEVEL: 'info',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = once(child, 'exit')
  let setupCode: string | undefined
  const port = await new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      setupCode = /"setupCode":"([^"]+)"/.exec(line)?.[1] ?? setupCode
      const listening = /"url":"http:\/\/127\.0\.0\.1:(\d+)".*"listening"/.exec(line)
      if (listening) resolve(Number(listening[1]))
    })
    child.once('exit', (code) => reject(new Error(`the service ended with ${code}`)))
  })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let cookie = ''

  async function send(method: 'GET' | 'POST', path: string, content?: unknown) {
    const text = content === undefined ? '' : JSON.stringify(content)
    const headers = {
      cookie,
      ...(content === undefined ? {} : { 'content-type': 'application/json' }),
      'content-length': Buffer.byteLength(text),
    }
    const sent = request({ agent, host: '127.0.0.1', port, method, path, headers })
    sent.end(text)
    const [response] = await once(sent, 'response')
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    const answer = Buffer.concat(chunks).toString('utf8')
    if (response.statusCode >= 300) throw new Error(`${path}: ${response.statusCode} ${answer}`)
    const [set] = response.headers['set-cookie'] ?? []
    if (set) cookie = set.split(';')[0]
    return JSON.parse(answer)
  }

  await send('POST', '/api/install', { password: PASSWORD, setupCode })
  return {
    port,
    cookie: () => cookie,
    get: (path: string) => send('GET', path),
    post: (path: string, content: unknown) => send('POST', path, content),
    pid: child.pid,
    async close() {
      agent.destroy()
      child.kill('SIGTERM')
      await exit
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
