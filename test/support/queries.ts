import { type ErasingQueryFunctions, erasingQueries } from '../../src/erasing/index.ts'
import { type MemoryQueryFunctions, memoryQueries } from '../../src/memory/index.ts'
import type { FunctionThread } from '../../src/storage/function-thread.ts'
import { openQueries } from '../../src/storage/queries.ts'

export type TestQueries = FunctionThread<MemoryQueryFunctions & ErasingQueryFunctions>

/** The query thread with the functions of memory and erasing. */
export const openTestQueries = (directory: string): TestQueries =>
  openQueries(directory, [memoryQueries, erasingQueries])
