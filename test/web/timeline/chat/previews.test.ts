import { expect, test } from 'vitest'
import { createPreviews } from '../../../../web/src/timeline/chat/previews.ts'

test('collects streamed words, and drops them when the turn ends', () => {
  const previews = createPreviews()
  previews.replace('t', '')
  previews.append('t', 'Hel')
  previews.append('t', 'lo')
  expect(previews.list).toEqual([{ turnId: 't', text: 'Hello' }])
  previews.end('t')
  previews.append('t', ' again')
  previews.replace('t', 'Hello again')
  expect(previews.list).toEqual([])
})

test('drops the words of an abandoned round when the turn begins again', () => {
  const previews = createPreviews()
  previews.append('t', 'Let me look that up')
  previews.replace('t', '')
  previews.append('t', 'It is nine.')
  expect(previews.list).toEqual([{ turnId: 't', text: 'It is nine.' }])
})

test('ignores appended words after a disconnect until the reply restarts or arrives whole', () => {
  const previews = createPreviews()
  previews.append('t', 'One ')
  previews.interrupt()
  previews.append('t', 'three')
  expect(previews.list).toEqual([{ turnId: 't', text: 'One ' }])
  previews.replace('t', '')
  previews.append('t', 'One two three')
  expect(previews.list).toEqual([{ turnId: 't', text: 'One two three' }])
  previews.interrupt()
  previews.replace('t', 'One two three four')
  expect(previews.list).toEqual([{ turnId: 't', text: 'One two three four' }])
})
