import { type MessagePort, parentPort as ownPort } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'

export { receiveMessageOnPort } from 'node:worker_threads'

/** What a thread of the pool runs next: the module of a thread of the service, and what that thread would be given. */
export type PooledRun = { readonly url: string; readonly data: unknown; readonly port: MessagePort }

// The bundles import these, and Database, in place of `node:worker_threads` and `better-sqlite3`.
export let parentPort: MessagePort | null = null
export let workerData: unknown

const opened = new Set<Sqlite.Database>()

/** A thread's connections close with it. These close with its run. */
export default class Database extends Sqlite {
  constructor(...given: ConstructorParameters<typeof Sqlite>) {
    super(...given)
    opened.add(this)
  }
}

let runs = 0

ownPort?.on('message', async ({ url, data, port }: PooledRun) => {
  parentPort = port
  workerData = data
  port.on('close', () => {
    for (const database of opened) database.close()
    opened.clear()
    ownPort?.postMessage('ended')
  })
  runs += 1
  // Only the thread's first module runs again: the others stay as they are.
  await import(`${url}?run=${runs}`)
})
