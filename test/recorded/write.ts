/**
 * Writes `data/` and `session.json` by running the real service for some days, with doubles around it.
 * Run it by hand and rarely: the committed data is meant to come from one build.
 *
 *   npm exec -- node test/recorded/write.ts
 *   RECORD=1 npx vitest run test/recorded
 *
 * Times and decisions repeat in each run; ids, salts and the interleaving of concurrent work do not.
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
  rmSync(`${DATA}-work`, { recursive: true, force: true })
}
