import { type MessagePort, parentPort as ownPort } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'

export { receiveMessageOnPort } from 'node:worker_threads'

/** What a thread of the pool runs next: the module of a thread of the service, and what that thread would be given. */
export type ThreadRunRequest = { readonly url: string; readonly data: unknown; readonly port: MessagePort }

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

ownPort?.on('message', async ({ url, data, port }: ThreadRunRequest) => {
  parentPort = port
  workerData = data
  port.on('close', () => {
    for (const database of opened) database.close()
    opened.clear()
    setImmediate(() => {
      // A thread of the service would not end by itself.
      if (process.getActiveResourcesInfo().includes('Timeout')) throw new Error(`${url} left a timer behind`)
      ownPort?.postMessage('ended')
    })
  })
  runs += 1
  // The query makes the entry module run again. All other modules keep their state.
  await import(`${url}?run=${runs}`)
})
