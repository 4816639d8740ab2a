// @module-tag long

import { expect, test } from 'vitest'
import { testDirectory } from '../support/directory.ts'
import { floodCalls } from './flooded-call.ts'

test('survives idle sockets, endless fragments and oversized frames, and connects a call meanwhile', {
  timeout: 180_000,
}, async () => {
  const report = await floodCalls({ directory: testDirectory(), sockets: 400, atOnce: 200 })
  expect(report.flaws).toEqual([])
  expect(report.idle).toMatchObject({ opened: 400, closed: 400 })
  expect(report.duringCall).toMatchObject({ opened: 400, closed: 400 })
  expect(report.storms).toMatchObject({ opened: 40, closed: 40 })
})
