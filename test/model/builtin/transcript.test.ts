import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startWholeService } from '../../support/service.ts'

const INTRODUCTION = `# A conversation with the builtin model

What a new owner types into a fresh installation, and what the builtin model answers: with no key and no network. Written
by \`npx vitest run test/model/builtin/transcript.test.ts -u\`, which says \`test/model/builtin/utterances.txt\` to the
whole service, a minute apart, from 10:00 on Tuesday, 2 June 2026.
`

/** A Tuesday in London. */
const START_MS = Date.UTC(2026, 5, 2, 9)
const MINUTE_MS = 60_000

test('matches docs/builtin-model.md', { tags: ['long'] }, async () => {
  let nowMs = START_MS
  const { client } = await startWholeService({
    nowMs: () => nowMs,
    environment: { TIMEZONE: 'Europe/London' },
  })
  // A slow machine answers late, but not otherwise.
  await client.put('/memory-config', { retrieveTimeoutMs: 5000 })
  let document = INTRODUCTION
  const lines = readFileSync(new URL('./utterances.txt', import.meta.url), 'utf8')
    .trim()
    .split('\n')
  for (const line of lines) {
    if (line.startsWith('# ')) {
      document += `\n#${line}\n`
      continue
    }
    nowMs += MINUTE_MS
    const answer = await client.post('/api/chat', { content: line, clientMessageId: `m${nowMs}` })
    const reply: string = answer.json.reply.text
    const quoted = reply.replace(/\/notes\/[0-9a-z]{26}/g, '/notes/…').replaceAll('\n', '\n> ')
    document += `\n**${line}**\n\n> ${quoted}\n`.replaceAll('> \n', '>\n')
  }
  await expect(document).toMatchFileSnapshot('../../../docs/builtin-model.md')
})
