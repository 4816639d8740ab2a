import { onTestFinished } from 'vitest'
import { openViewsReadOnly } from '../../projections/views.ts'
import { testDirectory } from './directory.ts'
import { openTestWriter } from './writer.ts'

/** A writer over its own directory and a reader of its views; closed after the test. */
export function openWriterAndViews() {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  const views = openViewsReadOnly(directory)
  onTestFinished(() => {
    views.close()
    writer.close()
  })
  return { directory, writer, views }
}
