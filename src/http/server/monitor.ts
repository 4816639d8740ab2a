import type { IncomingMessage } from 'node:http'
import { isEqual } from '../../lib/is-equal.ts'
import { isDirectLoopback } from './caller.ts'

/** Whether a request comes from a monitor: directly from this machine, or with METRICS_TOKEN. */
export type IsMonitor = (incoming: IncomingMessage) => boolean

export function createMonitorCheck(token: string | null): IsMonitor {
  return (incoming) => {
    const [, given] = /^Bearer +(\S+)$/i.exec(incoming.headers.authorization ?? '') ?? []
    return (token !== null && given !== undefined && isEqual(given, token)) || isDirectLoopback(incoming)
  }
}
