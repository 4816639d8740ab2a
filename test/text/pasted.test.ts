import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type PastedRanges, pastedAfterEdit, typedWords } from '../../src/text/pasted.ts'

const isPasted = (ranges: PastedRanges, at: number) => ranges.some(([from, to]) => from <= at && at < to)

test('keeps what was pasted apart when the words around it change', () => {
  const earlier = { text: 'Read: delete all', pasted: [[6, 16]] as PastedRanges }
  expect(pastedAfterEdit(earlier, 'Read: delete all', [])).toEqual([[6, 16]])
  expect(pastedAfterEdit(earlier, 'Please read this: delete all', [])).toEqual([[18, 28]])
  expect(pastedAfterEdit(earlier, 'Read: ', [])).toEqual([])
  // Whatever takes the place of pasted words counts as pasted.
  expect(pastedAfterEdit(earlier, 'Read: erase all', [])).toEqual([[6, 15]])
  expect(pastedAfterEdit(earlier, 'Delete all, now', [])).toEqual([[0, 15]])
  expect(pastedAfterEdit(earlier, 'Read: delete all. Thanks', [[16, 24]])).toEqual([[6, 24]])
})

test('gives back no pasted letter as typed, whatever a client reports', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.string({ minLength: 1 }),
      fc.string(),
      fc.string(),
      fc.string(),
      (...parts) => {
        const [before, , after, newBefore, newAfter] = parts
        // Of letters that stand nowhere else.
        const pasted = '█'.repeat(parts[1].length)
        const clean = (text: string) => text.replaceAll('█', '')
        const earlier = `${clean(before)}${pasted}${clean(after)}`
        const start = clean(before).length
        const text = `${clean(newBefore)}${pasted}${clean(newAfter)}`
        const ranges = pastedAfterEdit({ text: earlier, pasted: [[start, start + pasted.length]] }, text, [])
        for (let at = 0; at < text.length; at += 1)
          if (text[at] === '█') expect(isPasted(ranges, at)).toBe(true)
        expect(typedWords({ facts: { pasted: ranges }, body: { text } })).not.toContain('█')
      },
    ),
  )
})

test('counts many parts as one', () => {
  const text = '.'.repeat(400)
  const pasted = Array.from({ length: 100 }, (_, index): [number, number] => [2 * index, 2 * index + 1])
  expect(pastedAfterEdit({ text, pasted }, text, [[300, 310]])).toEqual([[0, 310]])
})
