import { mkdirSync, rmdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { steps } from '../doubles/assistant/assistant.ts'
import { testDirectory } from '../support/directory.ts'
import { ofType, readJson, startWithAssistant } from './task-harness.ts'

test('passes the program its task but no secret, variable or shell of the service', async () => {
  const assistant = await startWithAssistant({
    environment: {
      OPENAI_API_KEY: 'sk-canary-key-of-the-model',
      OPENAI_BASE_URL: 'http://127.0.0.1:9',
      DELIVERY_WEBHOOK_SECRET: 'canary-webhook-secret',
      MY_COPY: 'prefix canary-webhook-secret suffix',
      AWS_SECRET_ACCESS_KEY: 'canary',
      PGPASSWORD: 'canary',
      RCLONE_CONFIG_REMOTE_PASS: 'canary',
      RESTIC_PASSWORD: 'canary',
      MY_OWN: 'stays',
      LOG_LEVEL: 'info',
    },
  })
  const file = join(assistant.directory, 'situation.json')
  const prompt = steps({ print: '$(id) `id` ; rm -rf /' }, { tellSituation: file })
  const id = await assistant.dispatch(prompt)
  const task = await assistant.settled(id)
  expect(task.outcome).toBe('$(id) `id` ; rm -rf /')
  const { env, args, cwd } = readJson(file)
  expect(args).toEqual([prompt])
  expect(cwd).toBe(`${assistant.directory}-work`)
  expect((statSync(cwd).mode & 0o777).toString(8)).toBe('700')
  expect(env).toMatchObject({ MY_OWN: 'stays', DELEGATE_TASK_ID: id, DELEGATE_TASK_PROMPT: prompt })
  expect(env.DELEGATE_CALLBACK_URL).toBe(`${assistant.service.origin}/api/copilot/callback`)
  expect(JSON.stringify(env)).not.toContain('canary')
  for (const name of ['COPILOT_COMMAND', 'DATA_DIR', 'PORT', 'LOG_LEVEL', 'OPENAI_BASE_URL'])
    expect(env).not.toHaveProperty(name)
})

test('rejects a working directory that reaches the data directory, even through a link', async () => {
  const assistant = await startWithAssistant()
  const { client, directory } = assistant
  mkdirSync(join(directory, 'inside'))
  const link = join(testDirectory(), 'link')
  symlinkSync(join(directory, 'inside'), link)
  for (const path of [
    directory,
    join(directory, 'inside'),
    join(directory, 'not', 'yet'),
    dirname(directory),
    '/',
    link,
  ]) {
    const answer = await client.put('/api/config', { entries: { COPILOT_WORKDIR: path } })
    expect([path, answer.status, answer.json.detail]).toEqual([
      path,
      400,
      'COPILOT_WORKDIR must be outside the data directory and must not contain it.',
    ])
  }

  // Validation at save time cannot see a later link, so the task fails with this reason.
  const later = join(testDirectory(), 'later')
  mkdirSync(later)
  expect((await client.put('/api/config', { entries: { COPILOT_WORKDIR: later } })).status).toBe(200)
  rmdirSync(later)
  symlinkSync(directory, later)
  const task = await assistant.settled(await assistant.dispatch(steps({ print: 'done' })))
  expect(task).toMatchObject({ status: 'failed', kind: 'spawn' })
  expect(task.outcome).toContain('COPILOT_WORKDIR must be outside the data directory')
})

test('says that a program could not be started if its working directory is a file', async () => {
  const assistant = await startWithAssistant()
  writeFileSync(`${assistant.directory}-work`, '')
  const task = await assistant.settled(await assistant.dispatch(steps({ print: 'done' })))
  expect(task).toMatchObject({ status: 'failed', kind: 'spawn' })
  const [message] = ofType(await assistant.events(), 'chat.reply.sent')
  expect(message.payload.text).toMatch(/^Task “Tidy up” failed: the program could not be started\./)
  expect(message.payload.text).toContain('The working directory is not available.')
})
