import { createServer, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'

/** Serves the text double and the realtime double under one base URL, as a real service does. */
export async function joinModelDoubles(textUrl: string, realtimeUrl: string) {
  const text = new URL(textUrl)
  const realtime = new URL(realtimeUrl)
  const open = new Set<{ destroy(): unknown }>()
  const upgrades: string[] = []
  const server = createServer((incoming, answer) => {
    const { method, url, headers } = incoming
    const onward = request(
      { port: text.port, host: text.hostname, method, path: url, headers },
      (response) => {
        answer.writeHead(response.statusCode ?? 500, response.headers)
        response.pipe(answer)
      },
    )
    onward.on('error', () => answer.destroy())
    answer.on('close', () => onward.destroy())
    incoming.pipe(onward)
  })
  server.on('upgrade', (incoming, socket, head) => {
    upgrades.push(incoming.url ?? '')
    const onward = connect(Number(realtime.port), realtime.hostname, () => {
      const lines = incoming.rawHeaders.flatMap((name, index) =>
        index % 2 === 0 ? [`${name}: ${incoming.rawHeaders[index + 1]}`] : [],
      )
      onward.write(`GET ${realtime.pathname}${realtime.search} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
      onward.write(head)
      socket.pipe(onward).pipe(socket)
    })
    for (const end of [socket, onward]) {
      open.add(end)
      end.on('error', () => end.destroy())
      end.on('close', () => {
        open.delete(end)
        socket.destroy()
        onward.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    /** The path and query of each realtime session request. */
    upgrades: upgrades as readonly string[],
    async close() {
      for (const end of open) end.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
