import { parentPort } from 'node:worker_threads'
import { standBack } from '../thread-priority.ts'
import { type AssessRequest, assess } from './assess.ts'
import type { AssessAnswer } from './assessor.ts'

/** The shell of the assessing thread: reading a long message takes longer than the event loop can spare. */
if (parentPort) {
  standBack()
  const port = parentPort
  port.on('message', ({ id, request }: { id: number; request: AssessRequest }) => {
    let answer: AssessAnswer
    try {
      answer = { id, assessments: assess(request) }
    } catch (error) {
      answer = { id, failure: error instanceof Error ? (error.stack ?? error.message) : String(error) }
    }
    port.postMessage(answer)
  })
}
