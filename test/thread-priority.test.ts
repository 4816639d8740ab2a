import { getPriority } from 'node:os'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'

const MODULE = new URL('../src/thread-priority.ts', import.meta.url).href

test.runIf(process.platform === 'linux')(
  'a thread that stands back leaves the others of its process where they are',
  async () => {
    const before = getPriority(0)
    const code = `
    const { getPriority } = require('node:os')
    const { parentPort } = require('node:worker_threads')
    import(${JSON.stringify(MODULE)}).then(({ standBack }) => {
      standBack()
      parentPort.postMessage(getPriority(0))
    })`
    const worker = new Worker(code, { eval: true })
    const lowered = await new Promise((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
    })
    await worker.terminate()
    expect(lowered).toBe(Math.min(19, before + 10))
    expect(getPriority(0)).toBe(before)
  },
)
