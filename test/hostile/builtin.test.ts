import { expect, test } from 'vitest'
import { createBuiltinModel } from '../../src/model/builtin/builtin.ts'
import type { TextRequest } from '../../src/model/port.ts'
import { hostileTexts } from './texts.ts'

/** The builtin model blocks the event loop, and with it the audio of calls. This is processor time. */
const LIMIT_MS = 500

/** Includes short texts, because the model may skip long ones. */
const texts = [540, 2000, 8000, 100_000].flatMap((chars) =>
  hostileTexts(chars).map(([name, text]) => [`${chars} characters of ${name}`, text] as const),
)

test.each(texts)('answers %s within the time limit', async (_name, text) => {
  const request: TextRequest = {
    instructions: '',
    input: [{ type: 'message', role: 'owner', text }],
    tools: [],
    now: '2030-01-01T09:00:00.000Z',
    timezone: 'Europe/Berlin',
  }
  const start = process.threadCpuUsage()
  const events = await Array.fromAsync(createBuiltinModel().respond(request, new AbortController().signal))
  const { user, system } = process.threadCpuUsage(start)
  expect((user + system) / 1000).toBeLessThan(LIMIT_MS)
  expect(events.at(-1)).toMatchObject({ type: 'completed' })
})
