import { type MessagePort, parentPort } from 'node:worker_threads'
import type { FunctionAnswer, FunctionRequest } from './function-thread.ts'

/** What a thread runs: each function by its name, and what to close when it ends. */
export type Calls = {
  readonly functionOf: (name: string) => (args: never) => unknown
  readonly close: () => void
}

/** The shell of a thread that `openFunctionThread` starts. `open` is called in the thread alone. */
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
      // The client typed the arguments by the very name that they came with.
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
