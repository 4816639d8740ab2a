import { workerData } from 'node:worker_threads'
import type { ThreadFunctions } from './function-thread.ts'
import { serveFunctions } from './serve-functions.ts'

const urls: readonly string[] = workerData.modules
const modules: readonly { readonly queryFunctions: ThreadFunctions }[] = await Promise.all(
  urls.map((url) => import(url)),
)
serveFunctions(Object.assign({}, ...modules.map(({ queryFunctions }) => queryFunctions)))
