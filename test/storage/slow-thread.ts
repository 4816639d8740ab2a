import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { workerData } from 'node:worker_threads'
import { serveFunctions } from '../../src/storage/serve-functions.ts'

const START_MS = 300

// Takes a while to start, then leaves a file.
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, START_MS)
serveFunctions({})
writeFileSync(join(workerData.directory, 'started'), '')
