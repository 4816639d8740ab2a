import type { RealtimeEndpoint } from '../port.ts'
import type { Endpoint } from './client.ts'

/** The realtime WebSocket endpoint for a base URL: http becomes ws, https becomes wss. */
export function realtimeEndpoint({ baseUrl, authorization }: Endpoint, model: string): RealtimeEndpoint {
  const url = new URL(baseUrl)
  url.protocol = url.protocol === 'http:' ? 'ws:' : 'wss:'
  url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, '')}/realtime`
  url.searchParams.set('model', model)
  return { url: url.href, headers: authorization === null ? {} : { Authorization: authorization }, model }
}
