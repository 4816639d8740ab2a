import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { startTelephonyDouble } from '../doubles/telephony/telephony-double.ts'
import type { Answer } from '../http/client.ts'
import { ACCOUNT, AUTH_TOKEN, NUMBER, OWNER } from '../phone/provider.ts'
import { testDirectory } from '../support/directory.ts'
import { startWholeService, type WholeServiceOptions } from '../support/service.ts'

/** Gives up on a condition that never holds. Retries and their pauses take half of this. */
const GIVE_UP_MS = 120_000

export const ASSISTANT = JSON.stringify([
  process.execPath,
  fileURLToPath(new URL('../doubles/assistant/assistant.ts', import.meta.url)),
])

// biome-ignore lint/suspicious/noExplicitAny: tests read events of every shape.
export type TimelineEvent = any

/** The whole service with a coding assistant that follows the steps in its prompt. */
export async function startWithAssistant(options: WholeServiceOptions = {}) {
  const directory = options.directory ?? testDirectory()
  const service = await startWholeService({
    ...options,
    directory,
    environment: { COPILOT_COMMAND: ASSISTANT, ...options.environment },
  })
  const { client } = service

  async function events(): Promise<TimelineEvent[]> {
    return (await client.get('/api/timeline?limit=5000')).json.events
  }
  async function until<T>(what: string, find: () => Promise<T | null | undefined | false>): Promise<T> {
    for (const untilMs = performance.now() + GIVE_UP_MS; performance.now() < untilMs; ) {
      const found = await find()
      if (found) return found
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    throw new Error(`timed out waiting for: ${what}; events: ${(await events()).map(({ type }) => type)}`)
  }
  async function dispatch(prompt: string, more: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const answer: Answer = await client.post('/api/tasks', { title: 'Tidy up', prompt, ...more })
    if (answer.status !== 201) throw new Error(answer.text)
    return answer.json.id
  }
  const task = async (id: string) => (await client.get(`/api/tasks/${id}`)).json
  const report = (hookType: unknown, taskId: unknown, payload: unknown = {}) =>
    client.post('/api/copilot/callback', { hookType, taskId, payload })
  return {
    service,
    client,
    directory,
    events,
    until,
    dispatch,
    task,
    report,
    /** The task once its work and its delivery have ended. */
    settled: (id: string) =>
      until('the end of the task', async () => {
        const found = await task(id)
        const isOver = ['finished', 'failed', 'cancelled'].includes(found.status)
        return isOver && found.deliveryState !== 'pending' ? found : null
      }),
    runs: (id: string) => until('the task to run', async () => (await task(id)).status === 'running'),
    operations: async () => (await client.get('/api/session/operations?hours=1')).json.copilotDelivery,
  }
}

export type AssistantService = Awaited<ReturnType<typeof startWithAssistant>>

/** The telephony double and the environment that points at it. */
export async function startProvider() {
  const double = await startTelephonyDouble({ accountSid: ACCOUNT, authToken: AUTH_TOKEN })
  onTestFinished(() => double.close())
  const environment = {
    OWNER_PHONE_NUMBER: OWNER,
    TELEPHONY_ACCOUNT_SID: ACCOUNT,
    TELEPHONY_AUTH_TOKEN: AUTH_TOKEN,
    TELEPHONY_PHONE_NUMBER: NUMBER,
    TELEPHONY_API_BASE_URL: double.url,
  }
  return { double, environment }
}

export const ofType = (events: readonly TimelineEvent[], type: string) =>
  events.filter((event) => event.type === type)

/** Whether a process runs; false for a zombie. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}

/** What the program wrote into a file; null until it is complete. */
// biome-ignore lint/suspicious/noExplicitAny: the double writes any shape.
export function readJson(file: string): any {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return null
  }
}
