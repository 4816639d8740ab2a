import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/**
 * How a link treats connections. `cut`: breaks them and refuses others. `hold`: passes nothing on for now.
 * `swallow`: passes on what is asked, but no answer, and breaks those connections in the end.
 */
export type LinkMode = 'pass' | 'cut' | 'hold' | 'swallow'

export type Link = Awaited<ReturnType<typeof openLink>>

type Pair = { readonly near: Socket; readonly far: Socket; hasSwallowed: boolean }

/** A port that leads to another one of this machine, which may change, and that can fail. */
export async function openLink(target: () => number) {
  let mode: LinkMode = 'pass'
  const pairs = new Set<Pair>()
  // What was sent before a connection was closed still arrives.
  const server = createServer({ allowHalfOpen: true }, (near) => {
    if (mode === 'cut') return void near.destroy()
    const far = connect({ port: target(), host: '127.0.0.1', allowHalfOpen: true })
    const pair = { near, far, hasSwallowed: false }
    pairs.add(pair)
    for (const socket of [near, far]) {
      socket.setNoDelay(true)
      socket.on('error', () => undefined)
      socket.on('close', () => drop(pair))
    }
    near.on('data', (chunk) => void far.write(chunk))
    near.on('end', () => void far.end())
    far.on('end', () => void near.end())
    far.on('data', (chunk) => {
      if (mode === 'swallow') pair.hasSwallowed = true
      else near.write(chunk)
    })
    if (mode === 'hold') pause(pair)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  function pause({ near, far }: Pair): void {
    near.pause()
    far.pause()
  }

  function drop(pair: Pair): void {
    pairs.delete(pair)
    pair.near.destroy()
    pair.far.destroy()
  }

  return {
    port: (server.address() as AddressInfo).port,
    set(next: LinkMode): void {
      mode = next
      for (const pair of pairs) {
        if (mode === 'cut' || (mode === 'pass' && pair.hasSwallowed)) drop(pair)
        else if (mode === 'hold') pause(pair)
        else {
          pair.near.resume()
          pair.far.resume()
        }
      }
    },
    close(): void {
      for (const pair of pairs) drop(pair)
      server.close()
    },
  }
}
