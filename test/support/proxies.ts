import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { testDirectory } from './directory.ts'
import { freePort } from './postgres.ts'

type Run = {
  readonly program: string
  readonly args: readonly string[]
  readonly env: Record<string, string>
}

const example = (name: string) => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), 'utf8')

/** The examples in `deploy/`: how each runs without TLS, on a port of its own. */
const examples = {
  Caddyfile: (directory: string, port: number, [service]: readonly number[]): Run =>
    caddy('Caddyfile', directory, port, { DELEGATE: `127.0.0.1:${service}` }),
  'Caddyfile.two-nodes': (directory: string, port: number, [one, two]: readonly number[]): Run =>
    caddy('Caddyfile.two-nodes', directory, port, { ONE: `127.0.0.1:${one}`, TWO: `127.0.0.1:${two}` }),
  'nginx.conf'(directory: string, port: number, [service]: readonly number[]): Run {
    const site = example('nginx.conf')
      .replace(/listen .*/, `listen 127.0.0.1:${port};`)
      .replace(/ssl_.*\n/g, '\n')
      .replace('127.0.0.1:8081', `127.0.0.1:${service}`)
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (kind) => `${kind}_temp_path ${directory}/${kind};`,
    )
    const file = join(directory, 'nginx.conf')
    const http = ['access_log off;', ...paths, site].join('\n')
    writeFileSync(
      file,
      `daemon off; master_process off; pid ${directory}/pid; error_log stderr; events {}\nhttp { ${http} }\n`,
    )
    return { program: 'nginx', args: ['-c', file, '-p', directory], env: {} }
  },
}

function caddy(name: string, directory: string, port: number, upstreams: Record<string, string>): Run {
  const file = join(directory, name)
  writeFileSync(file, `{\n\tadmin off\n}\n${example(name)}`)
  const env = { SITE: `http://127.0.0.1:${port}`, ...upstreams }
  return { program: 'caddy', args: ['run', '--adapter', 'caddyfile', '--config', file], env }
}

/** Starts the real server of an example in front of these ports. Returns its port once it answers. */
export async function startProxy(name: keyof typeof examples, ports: readonly number[]): Promise<number> {
  const [port, directory] = [await freePort(), testDirectory()]
  const { program, args, env } = examples[name](directory, port, ports)
  const child = spawn(program, args, {
    stdio: 'ignore',
    env: { PATH: process.env.PATH, HOME: directory, ...env },
  })
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/health`).then(
      () => true,
      () => false,
    )
  await expect.poll(answers).toBe(true)
  return port
}
