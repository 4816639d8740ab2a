import { expect, test } from 'vitest'
import type { NewEvent } from '../../ledger/event.ts'
import { createReception } from '../../src/phone/lifecycle/reception.ts'
import { createCallSlot, type OfferedCall } from '../../src/phone/line/call-slot.ts'

const call = (callSid: string, party: 'owner' | 'guest'): OfferedCall => ({
  callSid,
  isNamed: true,
  accountSid: 'AC1',
  party,
  attestation: 'none',
  from: '+14155550199',
})

test('answers a guest as busy and ends their call when the owner takes the slot during the write', async () => {
  const disk = Promise.withResolvers<void>()
  const facts: NewEvent[] = []
  const reserved: string[] = []
  const reception = createReception({
    append: async (events) => {
      facts.push(...events)
      return { status: 'appended', events: [] }
    },
    placement: {
      openConversationId: () => undefined,
      async appendToNewSpan(_span: unknown, events: readonly NewEvent[]) {
        const [offered] = events
        if (offered?.actor === 'guest') await disk.promise
        const place = { conversationId: null, spanId: 'span', seq: 1 }
        return { status: 'appended', events: [{ ...offered, ...place }] }
      },
    } as never,
    calls: { bySid: () => undefined } as never,
    slot: createCallSlot({ nowMs: () => 0 }),
    publicUrl: () => 'https://delegate.example.com',
    carriage: () => 'realtime',
    guestIsSpent: () => false,
    isSpent: () => false,
    isHalted: () => false,
    isRecorded: () => false,
    newId: () => 'id',
    reserved: ({ callSid }) => void reserved.push(callSid),
    evicted: () => undefined,
  })
  const guest = reception.offer(call('CA1', 'guest'))
  expect(await reception.offer(call('CA2', 'owner'))).toMatchObject({ status: 'connect' })
  disk.resolve()
  expect(await guest).toEqual({ status: 'busy' })
  expect(reserved).toEqual(['CA2'])
  expect(facts).toMatchObject([
    { type: 'call.ended', facts: { callSid: 'CA1', reason: 'owner_calling' } },
    { type: 'span.closed' },
  ])
})
