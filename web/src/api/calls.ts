import type { Http } from './http.ts'
import { arrayField, asObject, optionalString, stringField } from './json.ts'

/** A line of a call that is not recorded as an event yet. `text` is null until words are recognised. */
export type TalkLine = {
  readonly itemId: string
  readonly by: 'caller' | 'delegate'
  readonly text: string | null
}

/** The call in progress. */
export type LiveCall = {
  readonly callSid: string
  readonly party: 'owner' | 'guest'
  readonly from: string
  readonly offeredAt: string
  /** Null while it is being connected. */
  readonly connectedAt: string | null
  readonly speaking: 'caller' | 'delegate' | null
  readonly lines: readonly TalkLine[]
}

/** Null if there is no call. Throws UnexpectedAnswer if malformed. */
export function parseLiveCall(value: unknown): LiveCall | null {
  if (value === null) return null
  const call = asObject(value, 'call')
  const { speaking } = call
  return {
    callSid: stringField(call, 'callSid'),
    party: call.party === 'owner' ? 'owner' : 'guest',
    from: stringField(call, 'from'),
    offeredAt: stringField(call, 'offeredAt'),
    connectedAt: optionalString(call, 'connectedAt'),
    speaking: speaking === 'caller' || speaking === 'delegate' ? speaking : null,
    lines: arrayField(call, 'lines', parseLine),
  }
}

function parseLine(value: unknown): TalkLine {
  const line = asObject(value, 'line')
  return {
    itemId: stringField(line, 'itemId'),
    by: line.by === 'delegate' ? 'delegate' : 'caller',
    text: optionalString(line, 'text'),
  }
}

/** Ends the call in progress. */
export async function hangUp(http: Http): Promise<void> {
  await http('POST', '/api/calls/current/hangup')
}
