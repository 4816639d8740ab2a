import { type MessagePort, parentPort } from 'node:worker_threads'
import type { FunctionAnswer, FunctionRequest } from './function-thread.ts'

export type Calls = {
  readonly functionOf: (name: string) => (args: never) => unknown
  readonly close: () => void
}

/** The main function of a thread that `openFunctionThread` starts. Does nothing in the main thread. */
export function serveCalls(open: () => Calls): void {
  if (!parentPort) return
  serve(parentPort, open())
}

function serve(port: MessagePort, { functionOf, close }: Calls): void {
  const send = (answer: FunctionAnswer) => port.postMessage(answer)
  port.on('message', (request: FunctionRequest | 'close') => {
    if (request === 'close') {
      close()
      port.close()
      return
    }
    try {
      // The client checked the arguments' type by the function's name.
      send({ kind: 'result', result: functionOf(request.name)(request.args as never) })
    } catch (error) {
      send({
        kind: 'error',
        message: error instanceof Error ? (error.stack ?? error.message) : String(error),
      })
    }
  })
  send({ kind: 'ready' })
}
