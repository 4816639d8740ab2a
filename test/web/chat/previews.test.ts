import { expect, test } from 'vitest'
import { createPreviews } from '../../../web/src/chat/previews.ts'

test('collects the words of a reply as they come, and drops them once the turn has ended', () => {
  const previews = createPreviews()
  previews.begin('t')
  previews.append('t', 'Hel')
  previews.append('t', 'lo')
  expect(previews.list).toEqual([{ turnId: 't', text: 'Hello' }])
  previews.end('t')
  previews.append('t', ' again')
  previews.replace('t', 'Hello again')
  expect(previews.list).toEqual([])
})

test('begins anew when the turn does: words of a round that came to nothing do not stand', () => {
  const previews = createPreviews()
  previews.append('t', 'Let me look that up')
  previews.begin('t')
  previews.append('t', 'It is nine.')
  expect(previews.list).toEqual([{ turnId: 't', text: 'It is nine.' }])
})

test('after a cut shows no sentence with a hole: it waits for a new beginning or for the whole', () => {
  const previews = createPreviews()
  previews.append('t', 'One ')
  previews.interrupt()
  previews.append('t', 'three')
  expect(previews.list).toEqual([{ turnId: 't', text: 'One ' }])
  previews.begin('t')
  previews.append('t', 'One two three')
  expect(previews.list).toEqual([{ turnId: 't', text: 'One two three' }])
  previews.interrupt()
  previews.replace('t', 'One two three four')
  expect(previews.list).toEqual([{ turnId: 't', text: 'One two three four' }])
})

test('gives the same list until something changes', () => {
  const previews = createPreviews()
  previews.begin('t')
  const { list } = previews
  expect(previews.list).toBe(list)
  previews.append('t', 'x')
  expect(previews.list).not.toBe(list)
})
