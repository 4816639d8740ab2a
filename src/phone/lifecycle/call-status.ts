import type { Append } from '../../../ledger/event.ts'
import type { CallQueries } from '../../../projections/calls.ts'

export type CallStatus = {
  readonly callSid: string
  readonly of: 'call' | 'stream'
  /** As the provider names it, for example `no-answer`. */
  readonly status: string
}

const STATUS = /^[a-z][a-z-]{0,40}$/

/** Records each status that the provider reports for a call once. A rejected call has no span. */
export function createCallStatusRecorder(options: {
  readonly append: Append
  readonly calls: CallQueries
}): (report: CallStatus) => Promise<void> {
  return async ({ callSid, of, status }) => {
    const call = options.calls.bySid(callSid)
    if (callSid === '' || !STATUS.test(status)) return
    await options.append([
      {
        type: 'call.status.reported',
        actor: 'service',
        channel: 'voice',
        ...(call && {
          conversationId: call.conversationId,
          spanId: call.spanId,
          causedBy: call.offeredSeq,
        }),
        key: `call:${callSid}:status:${of}:${status}`,
        facts: { callSid, of, status: status.replaceAll('-', '_') },
      },
    ])
  }
}
