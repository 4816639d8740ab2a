import { speech, TRAIN } from '../../phone/call/call-harness.ts'
import { GUEST, OWNER } from '../../phone/provider.ts'
import type { Day, Life } from './life.ts'

const greets = { audio: speech('caller-thanks'), transcript: 'Hello there, what is it?' }
const answers = { audio: speech('reply-train'), transcript: TRAIN }
const answersAtLength = {
  audio: Buffer.concat(Array.from({ length: 8 }, () => speech('reply-train'))),
  transcript: Array.from({ length: 8 }, () => TRAIN).join(' '),
}

/** Calls of the owner and of guests: answered, interrupted, cut off, rejected, and over the daily limit. */
export async function phoneDay(life: Life): Promise<void> {
  const day = await life.begin('2026-11-04T08:00:00.000Z')
  await ownersCall(life, day)
  await cutOff(life, day)
  await guestsCall(life, day)
  await day.end()

  // Stopping the service cuts one call off; another exceeds the daily limit.
  const later = await life.begin('2026-11-04T12:00:00.000Z', { DAILY_CALLS: '4' })
  await greeted(life, later, 'CA5', OWNER)
  await later.provider.ring('CA6', GUEST)
  await later.stop()
  const last = await life.begin('2026-11-04T12:10:00.000Z', { DAILY_CALLS: '1' })
  await last.provider.ring('CA7', OWNER)
  await last.end()
}

async function greeted(life: Life, day: Day, callSid: string, from: string) {
  const afterSeq = await day.head()
  life.calls.replies.push(greets)
  const caller = await day.dial(callSid, from)
  await day.seen('call.reply.spoken', afterSeq)
  return caller
}

async function ownersCall(life: Life, day: Day): Promise<void> {
  const caller = await greeted(life, day, 'CA1', OWNER)
  const afterSeq = await day.head()
  life.calls.words.push('When does my train to Lisbon leave tomorrow?')
  life.calls.replies.push(answersAtLength)
  await caller.say(speech('caller-question'))
  const before = caller.heardBytes().length
  await caller.until('some of the answer is heard', () => caller.heardBytes().length > before + 4_000)
  await day.provider.ring('CA2', GUEST)
  life.calls.words.push('Wait, please remember that I like green tea.')
  const args = JSON.stringify({ text: 'I like green tea.' })
  life.calls.replies.push({ toolCalls: [{ callId: 'call_1', name: 'remember', arguments: args }] }, answers)
  await caller.say(speech('caller-interrupts'))
  await day.seen('call.interrupted', afterSeq)
  await day.seen('call.reply.spoken', afterSeq, ({ payload }) => payload.text === TRAIN)
  caller.hangUp()
  await day.seen('call.ended', afterSeq)
  await day.provider.post('/voice-status', { CallSid: 'CA1', CallStatus: 'completed' })
  await day.provider.post('/voice-status', {
    StreamSid: 'MZ0123',
    CallSid: 'CA1',
    StreamEvent: 'stream-stopped',
  })
  await day.quiet()
}

async function cutOff(life: Life, day: Day): Promise<void> {
  const caller = await greeted(life, day, 'CA3', OWNER)
  const afterSeq = await day.head()
  life.calls.words.push(null)
  life.calls.replies.push(answersAtLength)
  await caller.say(speech('caller-question'))
  const before = caller.heardBytes().length
  await caller.until('some of the answer is heard', () => caller.heardBytes().length > before + 4_000)
  caller.drop()
  await day.seen('call.ended', afterSeq)
}

async function guestsCall(life: Life, day: Day): Promise<void> {
  const caller = await greeted(life, day, 'CA4', GUEST)
  const afterSeq = await day.head()
  life.calls.words.push('Is this the bakery?')
  life.calls.replies.push({ audio: speech('reply-train'), transcript: 'No, this is a delegate.' })
  await caller.say(speech('caller-question'))
  await day.seen('call.reply.spoken', afterSeq)
  caller.hangUp()
  await day.seen('call.ended', afterSeq)
}
