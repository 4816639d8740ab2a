import { expect, test } from 'vitest'
import { InvalidEvent, LedgerUnavailable } from '../../ledger/errors.ts'
import type { Append, NewEvent } from '../../ledger/event.ts'
import { createFactQueue } from '../../src/phone/lifecycle/fact-queue.ts'

const fact = (conversationId: string): NewEvent => ({
  type: 'conversation.started',
  actor: 'service',
  conversationId,
  facts: {},
})

test('drops a fact that the ledger rejects as invalid and records those behind it', async () => {
  const taken: unknown[] = []
  let isFull = true
  const append: Append = async ([event]) => {
    if (event?.conversationId === 'invalid') throw new InvalidEvent('no such fact')
    if (isFull) {
      isFull = false
      throw new LedgerUnavailable('the disk is full')
    }
    taken.push(event?.conversationId)
    return { status: 'appended', events: [] }
  }
  const queue = createFactQueue({ append, onFault: () => undefined, retryMs: 5 })
  const refused = queue.append([fact('invalid')])
  const recorded = queue.append([fact('a')])
  await expect(refused).rejects.toThrow(InvalidEvent)
  await recorded
  expect(taken).toEqual(['a'])
})

test('takes no more than 2,000 batches while the ledger takes none', async () => {
  const append: Append = () => new Promise(() => undefined)
  const queue = createFactQueue({ append, onFault: () => undefined })
  for (let batch = 0; batch <= 2_000; batch += 1) void queue.append([fact('a')])
  await expect(queue.append([fact('a')])).rejects.toThrow('too many facts of calls wait for the ledger')
})
