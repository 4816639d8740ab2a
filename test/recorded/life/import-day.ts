import { copyFileSync, cpSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mock } from 'node:test'
import { ledgerFile } from '../../../ledger/files.ts'
import { acceptLoss } from '../../../scripts/lib/accept-loss.ts'
import { runScript } from '../../scripts/run-script.ts'
import type { Life } from './life.ts'

/** Files that an operator copies, because an export omits them. */
const KEPT = ['settings.sqlite', 'adaptations']

/** Timers missed during downtime, an import and an accepted loss, each followed by a release. */
export async function importDay(life: Life): Promise<void> {
  await moveByExport(life)
  const day = await life.begin('2026-11-09T08:00:00.000Z')
  await day.post('/api/tasks', { title: 'Wait for me', prompt: '[]' })
  await day.quiet()
  await day.post('/api/outbound/release')
  await day.end()

  await loseTheNewest(life)
  const later = await life.begin('2026-11-09T12:00:00.000Z')
  await later.quiet()
  await later.post('/api/outbound/release')
  await later.end()
}

async function moveByExport(life: Life): Promise<void> {
  const { directory } = life
  const aside = mkdtempSync(join(tmpdir(), 'delegate-import-'))
  const [file, fresh] = [join(aside, 'ledger.jsonl'), join(aside, 'data')]
  await run('ledger-export', directory, file)
  await run('ledger-import', fresh, file)
  for (const name of KEPT) cpSync(join(directory, name), join(fresh, name), { recursive: true })
  rmSync(directory, { recursive: true })
  cpSync(fresh, directory, { recursive: true })
  rmSync(aside, { recursive: true })
}

async function run(script: string, directory: string, file: string): Promise<void> {
  const { code, err } = await runScript(script, directory, [file])
  if (code !== 0) throw new Error(`${script}: ${err}`)
}

/** Replaces ledger.sqlite with an older copy: later events are gone, and ledger.head records them. */
async function loseTheNewest(life: Life): Promise<void> {
  const { directory } = life
  const [ledger, older] = [ledgerFile(directory), `${ledgerFile(directory)}.older`]
  copyFileSync(ledger, older)
  const day = await life.begin('2026-11-09T10:00:00.000Z')
  await day.post('/api/notes', { title: 'Lost', content: 'Nobody will find this.' })
  await day.send('PUT', '/api/config', { entries: { SESSION_IDLE_MINUTES: 45 } })
  await day.end()
  renameSync(older, ledger)
  mock.timers.enable({ apis: ['Date'], now: life.clock.nowMs() })
  try {
    await acceptLoss(directory, async () => undefined)
  } finally {
    mock.timers.reset()
  }
}
