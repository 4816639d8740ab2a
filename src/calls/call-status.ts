import type { Append } from '../../ledger/event.ts'
import type { CallQueries } from '../../projections/calls.ts'

export type CallStatus = {
  readonly callSid: string
  readonly of: 'call' | 'stream'
  /** In the provider's words, like `no-answer`. */
  readonly status: string
}

const STATUS = /^[a-z][a-z-]{0,40}$/

/** Records what the provider reports of a call that was taken: each status once, however often it comes. */
export function createCallStatusRecorder(options: {
  readonly append: Append
  readonly calls: CallQueries
}): (report: CallStatus) => Promise<void> {
  return async ({ callSid, of, status }) => {
    const call = options.calls.bySid(callSid)
    if (!call || !STATUS.test(status)) return
    const { conversationId, spanId, offeredSeq } = call
    await options.append([
      {
        type: 'call.status.reported',
        actor: 'service',
        channel: 'voice',
        conversationId,
        spanId,
        causedBy: offeredSeq,
        key: `call:${callSid}:status:${of}:${status}`,
        facts: { callSid, of, status: status.replaceAll('-', '_') },
      },
    ])
  }
}
