import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createSpokenText } from '../../../src/phone/relay/spoken-text.ts'

let spoken: string[]
let text: ReturnType<typeof createSpokenText>

beforeEach(() => {
  vi.useFakeTimers()
  spoken = []
  text = createSpokenText({ nowMs: () => performance.now(), spoken: (mark) => spoken.push(mark) })
})
afterEach(() => void vi.useRealTimers())

/** Sends words, each followed by a mark of its own name. */
function send(sentence: string): void {
  for (const word of sentence.match(/\S+\s*/g) ?? []) {
    text.sent(word)
    text.marked(word.trim())
  }
}

test('counts what the provider reports as it is spoken, whatever the punctuation', () => {
  send('Hello there, what is it? ')
  text.reported('Hello there')
  expect(spoken).toEqual(['Hello', 'there,'])
  text.reported('What, is')
  expect(spoken).toEqual(['Hello', 'there,', 'what', 'is'])
  text.reported('of another reply')
  expect(spoken).toHaveLength(4)
})

test('counts everything as spoken after the time of slow speech, if nothing is reported', () => {
  send('Hello there, what is it? ')
  vi.advanceTimersByTime(1_500)
  expect(spoken).toEqual([])
  vi.advanceTimersByTime(3_000)
  expect(spoken).toEqual(['Hello', 'there,', 'what', 'is', 'it?'])
})

test('counts exactly what was heard before an interruption, also of a sentence that occurs twice', () => {
  send('Once more, with feeling. And then: once more, with feeling. Done. ')
  text.reported('Once more, with feeling.')
  text.reported('And then:')
  text.reported('once more')
  text.interrupted('once more')
  expect(spoken.at(-1)).toBe('more,')
  expect(spoken).toHaveLength(8)
  text.forget()
  vi.advanceTimersByTime(60_000)
  expect(spoken).toHaveLength(8)
})

test('finds the interruption nearest to the clock, if nothing is reported', () => {
  send('Once more, with feeling. And then: once more, with feeling. Done. ')
  // Both sentences end with these words. Slow speech takes over a second for the first.
  vi.advanceTimersByTime(1_400)
  text.interrupted('Once more')
  expect(spoken).toEqual(['Once', 'more,'])
})

test('counts nothing as heard if the provider spoke nothing', () => {
  send('Hello there. ')
  vi.advanceTimersByTime(900)
  text.interrupted('')
  expect(spoken).toEqual([])
})

test('returns each mark once and in order, whatever is reported', () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('send' as const), words: fc.lorem({ maxCount: 6 }) }),
    fc.record({
      do: fc.constantFrom('report' as const, 'interrupt' as const),
      words: fc.lorem({ maxCount: 2 }),
    }),
    fc.record({
      do: fc.constantFrom('forget' as const, 'wait' as const, 'break' as const),
      words: fc.constant(''),
    }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      let next = 0
      const marks: number[] = []
      const text = createSpokenText({
        nowMs: () => performance.now(),
        spoken: (mark) => marks.push(Number(mark)),
      })
      for (const { do: what, words } of steps) {
        if (what === 'report') text.reported(words)
        else if (what === 'interrupt') text.interrupted(words)
        else if (what === 'forget') text.forget()
        else if (what === 'break') text.broke()
        else if (what === 'wait') vi.advanceTimersByTime(1_000)
        else {
          text.sent(words)
          text.marked(String(next++))
        }
      }
      expect(marks).toEqual([...new Set(marks)].sort((a, b) => a - b))
    }),
  )
})
