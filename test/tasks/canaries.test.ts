import { expect, test } from 'vitest'
import { hiddenSteps } from '../doubles/assistant/assistant.ts'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { turnRequests } from '../doubles/model/turn-requests.ts'
import { filesHolding } from '../support/directory.ts'
import { startWithAssistant } from './task-harness.ts'

const secrets = {
  OPENAI_API_KEY: 'canary-openai-1f3a5c7e',
  TELEPHONY_AUTH_TOKEN: 'canary-"token"-2b4c6d8f',
  TELEPHONY_API_KEY_SECRET: 'canary-secret-3d5e7f90',
  DELIVERY_WEBHOOK_SECRET: 'canary webhook 4f6a8b0c',
}

/** Forms in which a program may print a secret. */
const spellings: Readonly<Record<string, (secret: string) => string>> = {
  raw: (secret) => secret,
  'in JSON': (secret) => JSON.stringify({ env: { KEY: secret } }),
  'in JSON in JSON': (secret) => JSON.stringify(JSON.stringify({ KEY: secret })),
  'in a URL': encodeURIComponent,
  base64: (secret) => Buffer.from(secret).toString('base64'),
  'base64 after one character': (secret) => Buffer.from(`a${secret} and more`).toString('base64'),
  'base64 after two': (secret) => Buffer.from(`ab${secret}`).toString('base64url'),
  'over two lines': (secret) => `${secret.slice(0, 9)}\n  ${secret.slice(9)}`,
  coloured: (secret) => `${secret.slice(0, 5)}\u001b[32m${secret.slice(5)}\u001b[0m`,
}
const everything = Object.values(secrets).flatMap((secret) =>
  Object.entries(spellings).map(([name, spell]) => `${name}: ${spell(secret)}.`),
)

/** A usable part of each secret, plain or encoded. */
const traces = Object.values(secrets).flatMap((secret) => [
  secret.slice(-8),
  ...[0, 1, 2].map((before) =>
    Buffer.from(`${'a'.repeat(before)}${secret}`)
      .toString('base64')
      .slice(8, 20),
  ),
])

test('keeps secrets that a task prints out of every fact, file, log, page and prompt', async () => {
  const model = await startModelDouble({ validate: false })
  model.answerWith(() => ({ text: 'The task has ended.' }))
  const assistant = await startWithAssistant({
    environment: { OPENAI_BASE_URL: model.url, CHAT_MODEL: 'm', ...secrets },
  })
  const { client, service } = assistant
  const ids = [
    await assistant.dispatch(hiddenSteps({ print: everything.join('\n') })),
    await assistant.dispatch(hiddenSteps({ complain: everything.join('\n') }, { exit: 1 })),
    await assistant.dispatch(
      hiddenSteps(
        { report: 'postToolUse', payload: { toolName: 'bash', toolArgs: { command: everything[0] } } },
        { report: 'sessionEnd', payload: { reason: 'complete', result: everything.join('\n') } },
      ),
    ),
    await assistant.dispatch(
      hiddenSteps({ report: 'errorOccurred', payload: { error: { message: everything.join('\n') } } }),
    ),
  ]
  const tasks = []
  for (const id of ids) tasks.push(await assistant.settled(id))
  for (const { outcome } of tasks) expect(outcome).toContain('raw: [redacted].')
  await client.post('/api/chat', { content: 'What did the tasks say?' })
  await assistant.until('both turns', async () => turnRequests(model).length >= 2)

  const seen = [
    JSON.stringify(tasks),
    JSON.stringify(await assistant.events()),
    (await client.get('/api/logs?limit=2000&level=trace')).text,
    service.written.join(''),
    JSON.stringify(model.requests().map(({ body }) => body)),
  ].join('\n')
  await service.stop()
  for (const trace of traces) {
    expect([trace, seen.includes(trace)]).toEqual([trace, false])
    expect([trace, filesHolding(assistant.directory, trace)]).toEqual([trace, []])
  }
  await model.close()
})
