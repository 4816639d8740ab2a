import { test } from 'vitest'
import { checkAppends } from './append-check.ts'

test('whatever fails during an append, what was acknowledged is there once, and nothing differs', async () => {
  await checkAppends(4)
})

test('whatever fails during many more appends, what was acknowledged is there once', {
  tags: ['long'],
}, async () => {
  await checkAppends(100)
})
