import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** What happens to a connection from a statement on. Until then, all bytes pass. */
export type Fate =
  | 'pass'
  /** The statement does not arrive, and the connection ends. */
  | 'cut'
  /** The statement does not arrive, and the connection stays. */
  | 'swallow'
  /** The statement arrives once it is released, even if the client is gone. */
  | 'hold'
  /** The statement arrives, and the connection of the client ends at once. */
  | 'cut the client'
  /** The statement arrives, and the connection ends in place of the answer. */
  | 'cut the answer'
  /** The statement arrives, there is no answer, and the connection stays. */
  | 'swallow the answer'

/** A TCP proxy in front of a database, which treats connections as a bad network does. */
export type Proxy = Awaited<ReturnType<typeof openProxy>>

export async function openProxy(targetPort: number) {
  const sockets = new Set<Socket>()
  let held: (() => void)[] = []
  let watched: { readonly word: string; readonly fateOf: () => Fate } | null = null
  let isDeaf = false

  const server = createServer((client) => {
    const upstream = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true })
    let fate: Fate = 'pass'
    const end = () => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => sockets.delete(socket))
    }
    if (isDeaf) return
    client.on('data', (bytes) => {
      if (watched && bytes.includes(watched.word)) {
        const { fateOf } = watched
        watched = null
        fate = fateOf()
      }
      if (fate === 'cut') end()
      else if (fate === 'hold') held.push(() => upstream.end(bytes))
      else if (fate !== 'swallow') upstream.write(bytes)
      if (fate === 'cut the client') client.destroy()
    })
    client.on('close', () => {
      // As if the client was gone without a word, which PostgreSQL does not notice while it works.
      if (fate === 'cut the client') upstream.end()
      else if (fate !== 'hold') upstream.destroy()
    })
    upstream.on('data', (bytes) => {
      if (fate === 'cut the answer') end()
      else if (fate !== 'swallow the answer') client.write(bytes)
    })
    upstream.on('close', () => client.destroy())
  })

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')

  return {
    url: `postgres://postgres@127.0.0.1:${address.port}/postgres`,
    /** Decides what happens to the next statement with this word. */
    watch(word: string, fateOf: () => Fate): void {
      watched = { word, fateOf }
    },
    /** Passes on what is held. */
    release(): void {
      for (const pass of held.splice(0)) pass()
    },
    /** Cuts all connections. What is held is lost. */
    cut(): void {
      held = []
      for (const socket of sockets) socket.destroy()
    },
    /** Whether new connections are accepted without ever an answer, as by a host that hangs. */
    set isDeaf(value: boolean) {
      isDeaf = value
    },
    async close(): Promise<void> {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
