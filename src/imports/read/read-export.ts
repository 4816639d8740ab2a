import { fork } from 'node:child_process'
import { once } from 'node:events'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { UnreadableExport } from './export-file.ts'
import type { ImportMessage } from './import-process.ts'

export type ExportBatch = Extract<ImportMessage, { kind: 'batch' }>

const PROGRAM = fileURLToPath(new URL('./import-process.ts', import.meta.url))
/** One conversation is in memory whole, with what its service keeps beside the words. */
const MAX_HEAP_MB = 512
/** How V8 ends a process whose memory is used up, and how the system does. */
const OUT_OF_MEMORY = new Set(['SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGKILL'])

/**
 * Reads an export in a process of its own: parsing gigabytes would block the event loop, and V8 ends the whole process
 * if a single object grows too large, even in a thread with a bounded heap. Reads no further than the consumer takes.
 * No message is later than `nowMs`. Throws UnreadableExport, and when `signal` aborts.
 */
export async function* readExport(
  file: string,
  nowMs: number,
  signal: AbortSignal,
): AsyncGenerator<ExportBatch> {
  const cache = getCompileCacheDir()
  const child = fork(PROGRAM, [file, String(nowMs)], {
    // Nothing else of the environment, which may hold secrets.
    env: cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) },
    // As in `npm start`: V8's memory protection keys end a process now and then.
    execArgv: [`--max-old-space-size=${MAX_HEAP_MB}`, '--no-memory-protection-keys'],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const ended = once(child, 'exit', { signal })
  ended.catch(() => undefined)
  try {
    for (;;) {
      const [message] = await Promise.race([once(child, 'message', { signal }), ended.then(explain)])
      if (message.kind === 'end') return
      if (message.kind === 'failed') throw new UnreadableExport(message.reason, 'the file is no export')
      yield message
      child.send('next')
    }
  } finally {
    child.kill('SIGKILL')
  }
}

function explain([code, by]: (number | string | null)[]): never {
  if (typeof by === 'string' && OUT_OF_MEMORY.has(by))
    throw new UnreadableExport('too_large', 'a conversation does not fit into the memory')
  throw new Error(`the process that reads an import ended with ${by ?? code}`)
}
