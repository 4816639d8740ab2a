import { expect, test, vi } from 'vitest'
import { arbitrate } from '../../../src/memory/recall/arbitration.ts'
import type { Recollection } from '../../../src/memory/recall/recollections.ts'

const recollections = [1, 2, 3].map((seq) => ({ seq }) as Recollection)
const request = { cue: 'tea', recollections, timeoutMs: 20, onFault: () => undefined }

test('drops what the arbitrator does not name and keeps the order', async () => {
  const { kept, dropped, outcome } = await arbitrate({
    ...request,
    arbitrator: async () => new Set([3, 1, 99]),
  })
  expect([kept.map(({ seq }) => seq), dropped.map(({ seq }) => seq), outcome]).toEqual([
    [1, 3],
    [2],
    'judged',
  ])
})

test('does not wait for a slow arbitrator, and aborts it', async () => {
  let wasAborted = false
  const { kept, outcome } = await arbitrate({
    ...request,
    arbitrator: (_cue, _recollections, signal) => {
      signal.addEventListener('abort', () => {
        wasAborted = true
      })
      return new Promise(() => undefined)
    },
  })
  expect([kept.length, outcome, wasAborted]).toEqual([3, 'late', true])
})

test('keeps everything if the arbitrator fails, and reports the fault', async () => {
  const onFault = vi.fn()
  const fault = new Error('no model')
  const arbitrator = async () => Promise.reject(fault)
  const { kept, outcome } = await arbitrate({ ...request, arbitrator, onFault })
  expect([kept.length, outcome]).toEqual([3, 'failed'])
  expect(onFault).toHaveBeenCalledWith(fault)
})

test('asks nothing without recollections', async () => {
  const arbitrator = vi.fn()
  expect(await arbitrate({ ...request, recollections: [], arbitrator })).toMatchObject({
    kept: [],
    outcome: 'judged',
  })
  expect(arbitrator).not.toHaveBeenCalled()
})
