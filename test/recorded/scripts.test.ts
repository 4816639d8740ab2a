import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { viewsFile } from '../../ledger/files.ts'
import { runScript } from '../scripts/run-script.ts'
import { firstDifference } from './exchange.ts'
import { copyData, readSession } from './places.ts'
import { startOver } from './start.ts'
import { isRecording, readTranscript, writeTranscript } from './transcripts.ts'

/** Removes what depends on the speed of the machine: events per second and the total time. */
function withoutSpeed(out: string): string {
  return out.replace(/^(.{40}).{12}/gm, '$1').replace(/ in \d+ ms$/m, '')
}

async function outputs(directory: string) {
  const verified = await runScript('ledger-verify', directory)
  const exported = await runScript('ledger-export', directory, ['-'])
  const replayed = await runScript('ledger-replay', directory)
  return {
    'ledger:verify': { code: verified.code, lines: verified.out.split('\n') },
    'ledger:export': {
      code: exported.code,
      lines: exported.out.split('\n').length - 1,
      sha256: createHash('sha256').update(exported.out).digest('hex'),
    },
    'ledger:replay': { code: replayed.code, lines: withoutSpeed(replayed.out).split('\n') },
  }
}

for (const isRebuilt of [false, true])
  test(`verifies, exports and replays as recorded; views rebuilt: ${isRebuilt}`, {
    tags: isRebuilt ? [] : ['long'],
  }, async () => {
    const directory = copyData()
    onTestFinished(() => rmSync(directory, { recursive: true }))
    if (isRebuilt) rmSync(viewsFile(directory))
    // The start rebuilds views that an earlier build defined differently; replay does not compare those.
    const nowMs = Date.parse(readSession().now)
    const service = await startOver({ directory, environment: {}, nowMs: () => nowMs, random: () => 0.5 })
    // A search waits for the search indexes to catch up.
    const { client } = service
    client.useCookie(readSession().cookie)
    expect((await client.get('/api/timeline/search?q=train')).status).toBe(200)
    await service.stop()
    const found = await outputs(directory)
    if (isRecording && !isRebuilt) writeTranscript('scripts', found)
    expect(firstDifference(readTranscript('scripts'), found)).toBeNull()
  })
