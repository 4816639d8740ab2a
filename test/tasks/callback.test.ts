import { expect, test } from 'vitest'
import { createTaskQueries } from '../../projections/tasks.ts'
import { createCallback } from '../../src/tasks/callback.ts'
import { openWriterAndViews } from '../support/writer-and-views.ts'

test('ignores a report on an unknown task without reading it', async () => {
  const masked: string[] = []
  const callback = createCallback({
    store: {
      tasks: createTaskQueries(openWriterAndViews().views),
      append: () => Promise.reject(new Error('nothing is to be appended')),
    },
    outputOf: () => '',
    onEnded: () => undefined,
    mask(text) {
      masked.push(text)
      return text
    },
    nowMs: () => 0,
  })
  const payload = { result: 'Done', list: ['a', 'b'] }
  expect(await callback.receive({ hookType: 'sessionEnd', taskId: 'unknown', payload })).toBe('ignored')
  expect(masked).toEqual([])
})
