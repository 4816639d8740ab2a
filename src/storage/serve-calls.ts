import { parentPort } from 'node:worker_threads'
import type { FunctionAnswer, FunctionRequest } from './function-thread.ts'

/** The main function of a thread that `openFunctionThread` starts. SQLite closes its connections at the end. */
export function serveCalls(functions: Readonly<Record<string, (args: never) => unknown>>): void {
  const port = parentPort
  const send = (answer: FunctionAnswer) => port?.postMessage(answer)
  port?.on('message', (request: FunctionRequest | 'close') => {
    if (request === 'close') {
      port.close()
      return
    }
    try {
      // The client checked the name and the arguments' type.
      send({ kind: 'result', result: functions[request.name]?.(request.args as never) })
    } catch (error) {
      send({
        kind: 'error',
        message: error instanceof Error ? (error.stack ?? error.message) : String(error),
      })
    }
  })
  send({ kind: 'ready' })
}
