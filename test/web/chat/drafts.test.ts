import { expect, test } from 'vitest'
import { createDrafts } from '../../../web/src/chat/drafts.ts'

test('collects the words of a reply as they come, and drops them once the turn has ended', () => {
  const drafts = createDrafts()
  drafts.begin('t')
  drafts.append('t', 'Hel')
  drafts.append('t', 'lo')
  expect(drafts.list).toEqual([{ turnId: 't', text: 'Hello' }])
  drafts.end('t')
  drafts.append('t', ' again')
  drafts.replace('t', 'Hello again')
  expect(drafts.list).toEqual([])
})

test('begins anew when the turn does: words of a round that came to nothing do not stand', () => {
  const drafts = createDrafts()
  drafts.append('t', 'Let me look that up')
  drafts.begin('t')
  drafts.append('t', 'It is nine.')
  expect(drafts.list).toEqual([{ turnId: 't', text: 'It is nine.' }])
})

test('after a cut shows no sentence with a hole: it waits for a new beginning or for the whole', () => {
  const drafts = createDrafts()
  drafts.append('t', 'One ')
  drafts.interrupt()
  drafts.append('t', 'three')
  expect(drafts.list).toEqual([{ turnId: 't', text: 'One ' }])
  drafts.begin('t')
  drafts.append('t', 'One two three')
  expect(drafts.list).toEqual([{ turnId: 't', text: 'One two three' }])
  drafts.interrupt()
  drafts.replace('t', 'One two three four')
  expect(drafts.list).toEqual([{ turnId: 't', text: 'One two three four' }])
})

test('gives the same list until something changes', () => {
  const drafts = createDrafts()
  drafts.begin('t')
  const { list } = drafts
  expect(drafts.list).toBe(list)
  drafts.append('t', 'x')
  expect(drafts.list).not.toBe(list)
})
