import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { onTestFinished } from 'vitest'

const TRY_MS = 15_000
const LOOK_MS = 100

const isReady = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/ready`, { signal: AbortSignal.timeout(1_000) }).then(
    ({ ok }) => ok,
    () => false,
  )

/** Forwards each connection to the first of these ports whose `/ready` answers 200. Returns its own port. */
export async function startReadyProxy(ports: readonly number[]): Promise<number> {
  const open = new Set<Socket>()
  async function readyPort(): Promise<number | undefined> {
    for (const untilMs = performance.now() + TRY_MS; performance.now() < untilMs; await pause(LOOK_MS))
      for (const port of ports) if (await isReady(port)) return port
    return undefined
  }
  function join(one: Socket, other: Socket): void {
    one.pipe(other)
    one.on('close', () => other.destroy())
    one.on('error', () => other.destroy())
  }
  const server = createServer(async (inbound) => {
    open.add(inbound)
    inbound.on('close', () => open.delete(inbound))
    inbound.on('error', () => inbound.destroy())
    const port = await readyPort()
    if (port === undefined || inbound.destroyed) {
      inbound.destroy()
      return
    }
    const outbound = connect(port, '127.0.0.1')
    join(inbound, outbound)
    join(outbound, inbound)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    for (const socket of open) socket.destroy()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
