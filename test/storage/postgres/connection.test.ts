import { expect, test } from 'vitest'
import { configOf, connect, hostsOf } from '../../../src/storage/postgres/connection.ts'

const urls: [string, string[]][] = [
  ['postgres://me@one/name', ['postgres://me@one/name']],
  [
    'postgres://me:a,b@one:5432,two:5433/name?x=1,2',
    ['postgres://me:a,b@one:5432/name?x=1,2', 'postgres://me:a,b@two:5433/name?x=1,2'],
  ],
  [
    'postgres://me@[::1]:5432,[fd00::2]/name',
    ['postgres://me@[::1]:5432/name', 'postgres://me@[fd00::2]/name'],
  ],
  ['postgres:///name?host=/run/postgresql', ['postgres:///name?host=/run/postgresql']],
  ['postgresql://one,two', ['postgresql://one', 'postgresql://two']],
]
test.each(urls)('%s names these hosts', (url, hosts) => {
  expect(hostsOf(url)).toEqual(hosts)
})

const local: [string, string][] = [
  ['postgres://me@localhost/name', 'localhost'],
  ['postgres://me@127.0.0.1:6000/name', '127.0.0.1'],
  ['postgres://me@[::1]/name', '::1'],
  ['postgres:///name', 'localhost'],
  ['postgres:///name?host=/run/postgresql', '/run/postgresql'],
  ['postgres://me@/name?host=/run/postgresql', '/run/postgresql'],
  ['postgres://me@%2Frun%2Fpostgresql/name', '/run/postgresql'],
]
test.each(local)('%s is on this machine and needs no TLS', (url, host) => {
  const config = configOf(url)
  expect(config).toMatchObject({ host, database: 'name' })
  expect(config.ssl).toBeUndefined()
})

const remote: [string, string][] = [
  ['postgres://me:secret@db.example.net/name', 'db.example.net'],
  ['postgres://me@db.example.net/name?sslmode=require', 'db.example.net'],
  ['postgres://me@db.example.net/name?sslmode=verify-full&uselibpqcompat=true', 'db.example.net'],
  ['postgres://me@db.example.net/name?ssl=0', 'db.example.net'],
  ['postgres://me@db.example.net/name?host=', 'db.example.net'],
  ['postgres://me@localhost/name?host=db.example.net', 'db.example.net'],
  ['postgres://me@db.example.net/name?host=localhost&host=10.0.0.2', '10.0.0.2'],
  ['postgres://me@/name?host=10.0.0.2', '10.0.0.2'],
  ['postgres://me@[fd00::2]/name', 'fd00::2'],
]
test.each(remote)('%s is another machine and needs a checked certificate', (url, host) => {
  expect(configOf(url)).toMatchObject({ host, ssl: { rejectUnauthorized: true } })
  expect(configOf(url).ssl).not.toHaveProperty('checkServerIdentity')
})

test.each(['disable', 'no-verify'])('sslmode=%s is refused for another machine', (mode) => {
  expect(() => configOf(`postgres://me@db.example.net/name?sslmode=${mode}`)).toThrow(
    `LEDGER_POSTGRES_URL has sslmode=${mode}, but db.example.net is another machine.`,
  )
  expect(() => configOf(`postgres://me@localhost/name?sslmode=${mode}`)).not.toThrow()
})

test.each([
  'postgres://me:hidden@one:notaport/name',
  'postgres://me:hidden@127.0.0.1:1/name',
  'postgres://me:hidden@127.0.0.1:1,127.0.0.1:2/name',
  'postgres://me:hidden@127.0.0.1:1/name?sslrootcert=/nowhere',
])('%s cannot be used, and the error does not quote the password', async (url) => {
  const error = await connect(url, 'node', 1_000).catch((failure: unknown) => failure)
  expect(error).toMatchObject({ name: expect.stringMatching(/^(Unreachable|EngineRefused)$/) })
  expect(String(error)).toMatch(/ECONNREFUSED|cannot be used/)
  expect(JSON.stringify([String(error), error, (error as Error).stack])).not.toContain('hidden')
})
