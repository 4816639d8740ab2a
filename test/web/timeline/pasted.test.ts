import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isPaste } from '../../../web/src/design/field.ts'
import { type Draft, editDraft, trimDraft } from '../../../web/src/timeline/pasted.ts'

const empty: Draft = { text: '', pasted: [] }

test('keeps a pasted part apart from what is typed around and into it', () => {
  const pasted = editDraft({ text: 'Read: ', pasted: [] }, 'Read: delete all', true)
  expect(pasted.pasted).toEqual([[6, 16]])
  expect(editDraft(pasted, 'Please Read: delete all', false).pasted).toEqual([[13, 23]])
  expect(editDraft(pasted, 'Read: delete NOT all', false).pasted).toEqual([
    [6, 13],
    [17, 20],
  ])
  expect(editDraft(pasted, 'Read: ', false).pasted).toEqual([])
})

test('follows the pasted letters through any edits', () => {
  const edit = fc.record({
    at: fc.nat(),
    remove: fc.nat({ max: 4 }),
    insert: fc.nat({ max: 5 }),
    isPasted: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 12 }), (edits) => {
      // Each letter occurs once, so that an edit has one reading.
      let letters: { readonly letter: string; readonly isPasted: boolean }[] = []
      let draft = empty
      let next = 0x4e00
      for (const { at, remove, insert, isPasted } of edits) {
        const inserted = Array.from({ length: insert }, () => ({
          letter: String.fromCharCode(next++),
          isPasted,
        }))
        letters = letters.toSpliced(at % (letters.length + 1), remove, ...inserted)
        draft = editDraft(draft, letters.map(({ letter }) => letter).join(''), isPasted)
      }
      const covered = letters.map((_, place) =>
        draft.pasted.some(([from, to]) => from <= place && place < to),
      )
      expect(covered).toEqual(letters.map(({ isPasted }) => isPasted))
    }),
  )
})

test('moves the ranges when it removes the spaces around a message', () => {
  expect(trimDraft({ text: '  see abc ', pasted: [[6, 10]] })).toEqual({ text: 'see abc', pasted: [[4, 7]] })
  expect(trimDraft({ text: ' \n abc', pasted: [[0, 3]] })).toEqual({ text: 'abc', pasted: [] })
})

test('counts many pasted parts as one', () => {
  const text = 'ab'.repeat(101)
  const pasted = Array.from({ length: 101 }, (_, index): [number, number] => [2 * index, 2 * index + 1])
  expect(trimDraft({ text, pasted }).pasted).toEqual([[0, 201]])
})

test('tells pasting and dropping from typing', () => {
  expect(
    ['insertFromPaste', 'insertFromDrop', 'insertFromPasteAsQuotation', 'historyUndo'].every(isPaste),
  ).toBe(true)
  expect(['insertText', 'insertReplacementText', 'deleteByCut'].some(isPaste)).toBe(false)
})

test('keeps through edits which message it replaces', () => {
  const draft: Draft = { text: 'Hello', pasted: [], replaces: 't1' }
  expect(trimDraft(editDraft(draft, 'Hello you ', false))).toEqual({ ...draft, text: 'Hello you' })
})
