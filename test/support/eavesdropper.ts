import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** A foreign server that answers everything with 404 and keeps every request. Closed after the test. */
export async function startEavesdropper() {
  const heard: string[] = []
  const server = createServer((incoming, answer) => {
    let text = `${incoming.method} ${incoming.url} ${JSON.stringify(incoming.headers)}`
    incoming.on('data', (chunk) => (text += String(chunk)))
    incoming.on('end', () => {
      heard.push(text)
      answer.writeHead(404, { 'content-type': 'application/json' }).end('{"error": {"message": "no"}}')
    })
  })
  server.on('upgrade', (incoming, socket) => {
    heard.push(`${incoming.url} ${JSON.stringify(incoming.headers)}`)
    socket.end('HTTP/1.1 404 Not Found\r\n\r\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    heard: heard as readonly string[],
  }
}
