import { expect, test, vi } from 'vitest'
import { arbitrate } from '../../../src/memory/recall/arbitration.ts'
import type { Recollection } from '../../../src/memory/recall/recollections.ts'

const recollections = [1, 2, 3].map((seq) => ({ seq }) as Recollection)
const asked = { cue: 'tea', recollections, timeoutMs: 20, onFault: () => undefined }

test('what the arbitrator does not name is dropped, and the order stays', async () => {
  const { kept, dropped, outcome } = await arbitrate({
    ...asked,
    arbitrator: async () => new Set([3, 1, 99]),
  })
  expect([kept.map(({ seq }) => seq), dropped.map(({ seq }) => seq), outcome]).toEqual([
    [1, 3],
    [2],
    'judged',
  ])
})

test('an arbitrator that takes too long is not waited for, and is told so', async () => {
  let wasTold = false
  const { kept, outcome } = await arbitrate({
    ...asked,
    arbitrator: (_cue, _recollections, signal) => {
      signal.addEventListener('abort', () => {
        wasTold = true
      })
      return new Promise(() => undefined)
    },
  })
  expect([kept.length, outcome, wasTold]).toEqual([3, 'late', true])
})

test('an arbitrator that fails leaves everything, and the fault is reported', async () => {
  const onFault = vi.fn()
  const fault = new Error('no model')
  const arbitrator = async () => Promise.reject(fault)
  const { kept, outcome } = await arbitrate({ ...asked, arbitrator, onFault })
  expect([kept.length, outcome]).toEqual([3, 'failed'])
  expect(onFault).toHaveBeenCalledWith(fault)
})

test('nothing is asked about nothing', async () => {
  const arbitrator = vi.fn()
  expect(await arbitrate({ ...asked, recollections: [], arbitrator })).toMatchObject({
    kept: [],
    outcome: 'judged',
  })
  expect(arbitrator).not.toHaveBeenCalled()
})
