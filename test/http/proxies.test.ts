import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { MAX_FAILURES } from '../../src/http/server/sign-in-throttle.ts'
import { openTab } from '../support/chat-tab.ts'
import { testDirectory } from '../support/directory.ts'
import { freePort } from '../support/postgres.ts'
import { hasProgram } from '../support/programs.ts'
import { startWholeService } from '../support/service.ts'

const example = (name: string) => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), 'utf8')

type Proxy = {
  /** Arguments of the program that serve `origin` from the example in deploy/, without TLS. */
  arguments(directory: string, port: number, servicePort: number): readonly string[]
}

const proxies: Readonly<Record<string, Proxy>> = {
  caddy: {
    arguments(directory, port, servicePort) {
      const file = join(directory, 'Caddyfile')
      const site = example('Caddyfile')
        .replace('delegate.example.net {', `http://127.0.0.1:${port} {`)
        .replace('127.0.0.1:8081', `127.0.0.1:${servicePort}`)
      writeFileSync(file, `{\n\tadmin off\n}\n${site}`)
      return ['run', '--adapter', 'caddyfile', '--config', file]
    },
  },
  nginx: {
    arguments(directory, port, servicePort) {
      const site = example('nginx.conf')
        .replace(/listen .*/, `listen 127.0.0.1:${port};`)
        .replace(/ssl_.*\n/g, '\n')
        .replace('127.0.0.1:8081', `127.0.0.1:${servicePort}`)
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((kind) => `${kind}_temp_path ${directory}/${kind};`)
        .join('\n')
      const file = join(directory, 'nginx.conf')
      writeFileSync(
        file,
        `daemon off; master_process off; pid ${directory}/pid; error_log stderr;\nevents {}\nhttp { access_log off; ${paths}\n${site}}\n`,
      )
      return ['-c', file, '-p', directory]
    },
  },
}

test.each(Object.entries(proxies).map(([name, proxy]) => ({ name, proxy })))(
  'works behind $name as in its example: sign-in, WebSocket, streams, and no false address',
  async ({ name, proxy }) => {
    if (!hasProgram(name)) return
    const service = await startWholeService({ environment: { TRUSTED_PROXY: '127.0.0.1' } })
    const [port, directory] = [await freePort(), testDirectory()]
    const program: ChildProcess = spawn(name, proxy.arguments(directory, port, service.port), {
      env: { PATH: process.env.PATH, HOME: directory },
      stdio: 'ignore',
    })
    onTestFinished(async () => {
      program.kill('SIGKILL')
      if (program.exitCode === null) await once(program, 'exit')
    })
    const origin = `http://127.0.0.1:${port}`
    const ask = (path: string, headers: Record<string, string> = {}, body?: object) =>
      fetch(`${origin}${path}`, {
        method: body ? 'POST' : 'GET',
        headers: { 'content-type': 'application/json', origin, ...headers },
        ...(body && { body: JSON.stringify(body) }),
        redirect: 'manual',
      })
    await expect
      .poll(() =>
        ask('/ready').then(
          ({ status }) => status,
          () => 0,
        ),
      )
      .toBe(200)

    const tab = await openTab({ ...service, origin })
    tab.send({ type: 'chat.message', content: 'What is 17% of 80?', clientMessageId: 'one' })
    const isReply = ({ type, event }: { type: string; event?: { type: string } }) =>
      type === 'timeline.event' && event?.type === 'chat.reply.sent'
    expect((await tab.hear(isReply)).event.payload.text).toContain('13.6')

    // A visitor who names another address each time stays one client.
    for (let guess = 0; guess < MAX_FAILURES; guess += 1)
      await ask('/login', { 'x-forwarded-for': `203.0.113.${guess}` }, { password: 'a wrong password' })
    const last = await ask('/login', { 'x-forwarded-for': '203.0.113.200' }, { password: 'a wrong password' })
    expect(last.status).toBe(429)
    // Nor does the loopback address of the proxy open what only this machine may read.
    expect((await ask('/metrics')).status).not.toBe(200)
  },
)
