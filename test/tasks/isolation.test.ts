import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createIsolation } from '../../src/tasks/isolation.ts'
import { steps } from '../doubles/assistant/assistant.ts'
import { createClient } from '../http/client.ts'
import { filesIn, testDirectory } from '../support/directory.ts'
import { PASSWORD } from '../support/service.ts'
import { startServiceProcess } from '../torture/service-process.ts'
import { ASSISTANT, isAlive, ofType, startWithAssistant, type TimelineEvent } from './task-harness.ts'

/** A value in the service's environment that no program needs. The script must not spell it. */
const CANARY = 'ACcanaryOfTheService'
/** The prompt is the script. */
const SHELL = '["sh", "-c"]'
const GIVE_UP_MS = 60_000

type WayName = 'bubblewrap' | 'user'
const ways = { bubblewrap: {}, user: { TASK_USER: 'nobody' } } as const

/** Why a way cannot be tried on this machine; null if it can. */
async function missing(choice: WayName): Promise<string | null> {
  const dataDir = testDirectory()
  const user = choice === 'user' ? 'nobody' : null
  return (await createIsolation({ choice, user, dataDir, environment: () => ({}) })()).reason
}

async function until<T>(what: string, find: () => Promise<T | null | undefined | false> | T | null | false) {
  for (const untilMs = performance.now() + GIVE_UP_MS; performance.now() < untilMs; ) {
    const found = await find()
    if (found) return found
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`timed out waiting for ${what}`)
}

/** A service in its own process, with a secret in its environment and another in its data directory. */
async function startProcess(directory: string, environment: Readonly<Record<string, string>>) {
  const service = startServiceProcess(directory, {
    COPILOT_COMMAND: SHELL,
    TELEPHONY_ACCOUNT_SID: CANARY,
    ...environment,
  })
  onTestFinished(() => service.kill())
  const client = createClient(await service.listening)
  const setupCode = service.setupCode()
  if (setupCode === null) await client.post('/login', { password: PASSWORD })
  else await client.post('/api/install', { password: PASSWORD, setupCode })
  await client.put('/api/config', { entries: { DELIVERY_WEBHOOK_SECRET: 'whsec_c2VjcmV0' } })
  const task = async (id: string) => (await client.get(`/api/tasks/${id}`)).json
  return {
    service,
    client,
    task,
    dispatch: async (prompt: string): Promise<string> =>
      (await client.post('/api/tasks', { title: 'Pry', prompt, notify: 'chat' })).json.id,
    ended: (id: string) =>
      until('the end of the task', async () => {
        const found = await task(id)
        return /^(?:finished|failed)$/.test(found.status) ? found : null
      }),
    events: async (): Promise<TimelineEvent[]> => (await client.get('/api/timeline?limit=5000')).json.events,
  }
}

/** Reads whatever a curious program would. */
const prying = (directory: string) => `exec 2>&1
grep -aoh ACcana[r]yOfTheService /proc/$PPID/environ /proc/[0-9]*/environ
cat ../secret.key ${directory}/secret.key; head -c 15 ${directory}/ledger.sqlite; ls -A ${directory}
umount ${directory}; unshare -rm sh -c 'umount ${directory}; cat ${directory}/secret.key'
echo; echo "id $(id -u)"; echo "in $PWD"; touch kept; exit 0`

test.for([...(['bubblewrap', 'user'] as const), 'none' as const])(
  'isolation by %s: a task that pries into environment, key and ledger',
  async (way, { skip }) => {
    const reason = way === 'none' ? null : await missing(way)
    if (reason !== null) skip(reason)
    const directory = testDirectory()
    const { client, dispatch, ended, events } = await startProcess(directory, {
      TASK_ISOLATION: way,
      ...(way === 'none' ? {} : ways[way]),
    })
    const id = await dispatch(prying(directory))
    const task = await ended(id)
    expect(task).toMatchObject({ status: 'finished', isolation: way })
    const started = ofType(await events(), 'task.progressed').at(0)
    expect(started.payload).toMatchObject({ source: 'started', isolation: way })
    const key = readFileSync(join(directory, 'secret.key'), 'utf8').trim()
    const found = [CANARY, key, 'SQLite format', 'settings.sqlite'].filter((each) =>
      task.outcome.includes(each),
    )
    // Without isolation, the same script finds everything.
    expect(found).toEqual(way === 'none' ? [CANARY, key, 'SQLite format', 'settings.sqlite'] : [])
    expect(task.outcome).toContain(`in ${directory}-work`)
    // It may write into its working directory in any account, and what it writes is kept.
    expect(filesIn(`${directory}-work`)).toEqual([`${directory}-work/kept`])
    const { isolation } = (await client.get('/api/tasks')).json
    expect(isolation.way).toBe(way)
    if (way === 'none') expect(started.payload.text).toMatch(/^Started, not isolated\. .*TASK_ISOLATION/)
  },
)

test.for(['bubblewrap', 'user'] as const)(
  'isolation by %s: a cancelled task may clean up, a stubborn one is killed, a crash leaves none behind',
  { tags: ['long'] },
  async (way, { skip }) => {
    const reason = await missing(way)
    if (reason !== null) skip(reason)
    const directory = testDirectory()
    const environment = { TASK_ISOLATION: way, ...ways[way] }
    const first = await startProcess(directory, environment)
    const work = `${directory}-work`
    const has = (name: string) => until(name, () => existsSync(join(work, name)))
    /** The processes whose arguments name this task's file. */
    const pids = async (id: string): Promise<number[]> =>
      ofType(await first.events(), 'task.progressed').flatMap(({ payload }) =>
        payload.taskId === id && payload.pid ? [payload.pid] : [],
      )
    const pidOf = (id: string) => until('its pid', async () => (await pids(id))[0])

    const polite = await first.dispatch(
      'trap "touch cleaned; exit 0" TERM; touch ready; while :; do sleep 0.1; done',
    )
    await has('ready')
    const politePid = await pidOf(polite)
    await first.client.post(`/api/tasks/${polite}/cancel`)
    await has('cleaned')
    await until('its end', () => !isAlive(politePid))

    const stubborn = await first.dispatch('trap "" TERM; touch stubborn; while :; do sleep 0.1; done')
    await has('stubborn')
    const stubbornPid = await pidOf(stubborn)
    await first.client.post(`/api/tasks/${stubborn}/cancel`)
    await until('its end', () => !isAlive(stubbornPid))

    const left = await first.dispatch('touch left; while :; do sleep 0.1; done')
    await has('left')
    const leftPid = await pidOf(left)
    await first.service.kill()
    const second = await startProcess(directory, environment)
    expect(await second.ended(left)).toMatchObject({ status: 'failed', kind: 'interrupted' })
    await until('its end', () => !isAlive(leftPid))
  },
)

test('an isolated task reports by callback and keeps its environment', async ({ skip }) => {
  const reason = await missing('bubblewrap')
  if (reason !== null) skip(reason)
  const assistant = await startWithAssistant({
    environment: { COPILOT_COMMAND: ASSISTANT, TASK_ISOLATION: 'auto', HOME: '/tmp', GH_TOKEN: 'its own' },
  })
  const file = `${assistant.directory}-work/situation.json`
  const id = await assistant.dispatch(
    steps(
      { tellSituation: file },
      { report: 'sessionEnd', payload: { result: 'All green.' } },
      { hang: true },
    ),
  )
  expect(await assistant.settled(id)).toMatchObject({
    status: 'finished',
    outcome: 'All green.',
    isolation: 'bubblewrap',
  })
  const { env, cwd } = JSON.parse(readFileSync(file, 'utf8'))
  expect(env).toMatchObject({ HOME: '/tmp', GH_TOKEN: 'its own', DELEGATE_TASK_ID: id })
  expect(cwd).toBe(`${assistant.directory}-work`)
})

/** A PATH without bubblewrap. */
function pathWithoutBubblewrap(): string {
  const bin = join(testDirectory(), 'bin')
  mkdirSync(bin)
  for (const name of ['env', 'sh', 'ls', 'head', 'touch']) symlinkSync(`/bin/${name}`, join(bin, name))
  return bin
}

test('says that a task is not isolated where no way works, and how to change that', async () => {
  const assistant = await startWithAssistant({
    environment: { COPILOT_COMMAND: SHELL, TASK_ISOLATION: 'auto', PATH: pathWithoutBubblewrap() },
  })
  const task = await assistant.settled(await assistant.dispatch('echo done'))
  expect(task).toMatchObject({ status: 'finished', outcome: 'done', isolation: 'none' })
  const said = ofType(await assistant.events(), 'task.progressed').at(0).payload.text
  expect(said).toMatch(/^Started, not isolated\. bubblewrap is not installed\. Install bubblewrap, or/)
  expect((await assistant.client.get('/api/tasks')).json.isolation).toMatchObject({
    way: 'none',
    reason: 'bubblewrap is not installed.',
    remedy: expect.stringContaining('Install bubblewrap'),
  })
})

const isRoot = process.getuid?.() === 0
const ACCOUNT = isRoot ? 'which is no account of this machine.' : 'needs a service that runs as root.'
const READABLE = isRoot
  ? 'With TASK_USER, a program can read DATA_DIR.'
  : 'needs a service that runs as root.'

test.for([
  [{ TASK_ISOLATION: 'bubblewrap' }, 'bubblewrap is not installed. Install bubblewrap'],
  [{ TASK_ISOLATION: 'user' }, 'TASK_USER is not set. Run Delegate as root'],
  [{ TASK_ISOLATION: 'user', TASK_USER: 'nobody-at-all' }, ACCOUNT],
  [{ TASK_ISOLATION: 'user', TASK_USER: 'root' }, READABLE],
] as const)('fails a task whose chosen isolation does not work: %j', async ([chosen, sentence]) => {
  const assistant = await startWithAssistant({
    environment: { COPILOT_COMMAND: SHELL, PATH: pathWithoutBubblewrap(), ...chosen },
  })
  const task = await assistant.settled(await assistant.dispatch('touch ran'))
  expect(task).toMatchObject({ status: 'failed', kind: 'isolation', isolation: null, startedAt: null })
  expect(task.outcome).toContain(sentence)
  expect(task.outcome).toContain('restart Delegate.')
  expect(existsSync(`${assistant.directory}-work/ran`)).toBe(false)
})
