import { expect, test } from 'vitest'
import { LedgerUnavailable } from '../../../ledger/errors.ts'
import { type Backlog, createReactorWatch } from '../../../src/operations/readiness/reactor-watch.ts'

const MINUTE_MS = 60_000

function watchTexts() {
  let nowMs = 0
  let backlog: Backlog = { waiting: 0, since: null, dueKey: null }
  const watch = createReactorWatch({ nowMs: () => nowMs, monotonicMs: () => nowMs })
  const failed = watch.failuresOf('deliveries')
  watch.start({ deliveries: () => backlog })
  watch.close()
  const report = () => watch.report().find(({ name }) => name === 'deliveries')
  return {
    fail: (times: number, error: unknown = new Error('the view is gone\nat …')) => {
      for (let time = 0; time < times; time += 1) failed(error)
    },
    due: (dueKey: string | null, waiting = 1) => {
      backlog = { waiting, since: '2030-01-01T14:02:00.000Z', dueKey }
    },
    pass: (ms: number) => {
      nowMs += ms
    },
    report,
    state: () => report()?.state,
  }
}

test('is failing from the third failure at the same work, and recovers with other work', () => {
  const texts = watchTexts()
  texts.due('a', 3)
  texts.fail(2)
  expect(texts.state()).toBe('ok')
  texts.fail(1)
  expect(texts.report()).toEqual({
    name: 'deliveries',
    state: 'failing',
    waiting: 3,
    since: '2030-01-01T14:02:00.000Z',
    lastFailure: { at: '1970-01-01T00:00:00.000Z', message: 'the view is gone', inARow: 3 },
  })
  texts.due('b', 2)
  expect(texts.report()).toMatchObject({ state: 'ok', lastFailure: { inARow: 3 } })
  texts.fail(1)
  expect(texts.report()).toMatchObject({ state: 'ok', lastFailure: { inARow: 1 } })
})

test('recovers without a backlog after a quiet time', () => {
  const idle = watchTexts()
  idle.fail(3)
  expect(idle.state()).toBe('failing')
  idle.pass(2 * MINUTE_MS)
  expect(idle.state()).toBe('ok')
})

test('stands still when the same work is due for longer than any turn may take', () => {
  const texts = watchTexts()
  texts.due('a')
  expect(texts.state()).toBe('ok')
  texts.pass(14 * MINUTE_MS)
  expect(texts.state()).toBe('ok')
  texts.pass(2 * MINUTE_MS)
  expect(texts.state()).toBe('standing_still')
  texts.due('b')
  expect(texts.state()).toBe('ok')
})

test('counts work that backs off or is held as a backlog, not as a failure', () => {
  const texts = watchTexts()
  texts.due(null, 5)
  texts.pass(60 * MINUTE_MS)
  expect(texts.report()).toMatchObject({ state: 'ok', waiting: 5 })
})

test('blames a disk that refuses facts on the ledger only', () => {
  const texts = watchTexts()
  texts.due('a')
  texts.fail(5, new LedgerUnavailable('the disk is full'))
  expect(texts.report()).toMatchObject({ state: 'ok', lastFailure: null })
})
