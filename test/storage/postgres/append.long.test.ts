// @module-tag long

import { test } from 'vitest'
import { checkAppends } from './append-check.ts'

test('whatever fails during an append, what was acknowledged is there once, and nothing differs', async () => {
  await checkAppends(100)
})
