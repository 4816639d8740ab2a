import { once } from 'node:events'
import { createServer } from 'node:net'

/** A free port that stays free while nobody listens, because it is below the ephemeral range. */
export async function lastingPort(): Promise<string> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000)
    const server = createServer().listen(port)
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return String(port)
  }
}
