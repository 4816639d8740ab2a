import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startServiceProcess } from '../torture/service-process.ts'
import { createClient } from './client.ts'
import { PASSWORD, startService } from './harness.ts'

const FLOODERS = 40

type Flooder = { readonly answer: () => string; close(): void }

/** Starts a request whose body never ends. Resolves once everything is sent or the service has refused it. */
function beginBody(port: number, path: string, chunks: string): Promise<Flooder> {
  return new Promise((resolve) => {
    let answer = ''
    const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n`
    const flooder = { answer: () => answer, close: () => void socket.destroy() }
    const socket: Socket = connect(port, '127.0.0.1', () =>
      socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n${chunks}`, 'latin1', () => resolve(flooder)),
    )
    onTestFinished(flooder.close)
    socket.on('data', (data) => {
      answer += data.toString('latin1')
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(flooder))
  })
}

const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`

test("limits the memory of strangers' bodies: refuses large ones, serves small ones and the owner's", async () => {
  const service = await startService()
  const owner = await service.signedIn()
  const flooders = await Promise.all(
    Array.from({ length: FLOODERS }, () => beginBody(service.port, '/login', chunk(900_000))),
  )
  await expect.poll(() => flooders.filter(({ answer }) => answer() !== '').length).toBeGreaterThan(20)
  const refused = flooders.filter(({ answer }) => answer() !== '').map(({ answer }) => answer())
  expect(refused.length).toBeLessThan(FLOODERS)
  for (const answer of refused)
    expect(answer).toMatch(/^HTTP\/1\.1 503 .*\r\nretry-after: 5\r\n.*too_many_bodies/is)

  expect((await createClient(service.port).post('/login', { password: PASSWORD })).status).toBe(200)
  expect((await owner.post('/api/things', { name: 'x'.repeat(900_000) })).status).toBe(201)
  const large = { headers: { 'content-type': 'application/json' } }
  const callback = () => createClient(service.port).post('/sms', JSON.stringify('x'.repeat(900_000)), large)
  for (const { close } of flooders) close()
  await expect.poll(async () => (await callback()).status).toBe(200)
})

test('survives bodies in chunks of one byte', { tags: ['long'] }, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'delegate-flood-'))
  const service = startServiceProcess(directory, { NODE_OPTIONS: '--max-old-space-size=96' })
  onTestFinished(async () => {
    await service.kill()
    rmSync(directory, { recursive: true, force: true })
  })
  const port = await service.listening
  const owner = createClient(port)
  await owner.post('/api/install', { password: PASSWORD, setupCode: service.setupCode() })
  const chunks = chunk(1).repeat(20_000)
  await Promise.all(Array.from({ length: FLOODERS }, () => beginBody(port, '/sms', chunks)))
  expect((await owner.get('/api/notes')).status).toBe(200)
  expect(service.child.signalCode).toBeNull()
})
