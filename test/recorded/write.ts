/**
 * Writes `data/` and `session.json` by living through some days with the real service and the doubles of the outside
 * services. Run by hand, and seldom: what is committed is a data directory as one build wrote it.
 *
 *   npm exec -- node test/recorded/write.ts
 *   RECORD=1 npx vitest run test/recorded
 *
 * Times and decisions are the same in each run; ids, salts and the timing of what goes on side by side are not.
 */
import { rmSync, writeFileSync } from 'node:fs'
import { erasuresDay } from './life/erasures-day.ts'
import { firstDay } from './life/first-day.ts'
import { importDay } from './life/import-day.ts'
import { lastDay } from './life/last-day.ts'
import { openLife } from './life/life.ts'
import { memoryDay } from './life/memory-day.ts'
import { phoneDay } from './life/phone-day.ts'
import { tasksDay } from './life/tasks-day.ts'
import { textsDay } from './life/texts-day.ts'
import { DATA, sessionFile } from './places.ts'

rmSync(DATA, { recursive: true, force: true })
const life = await openLife(DATA, '2026-11-02T08:00:00.000Z')
try {
  for (const live of [firstDay, memoryDay, phoneDay, textsDay, tasksDay, erasuresDay, importDay]) {
    await live(life)
    console.info(`${live.name} is over`)
  }
  writeFileSync(sessionFile, `${JSON.stringify(await lastDay(life), null, 2)}\n`)
} finally {
  await life.close()
  // Where the tasks worked.
  rmSync(`${DATA}-work`, { recursive: true, force: true })
}
