import { createClient } from '../http/client.ts'
import { createRandom } from '../support/random.ts'
import { type ServiceProcess, startServiceProcess } from './service-process.ts'
import { survey } from './soundness.ts'
import { type Acknowledged, examineTalk, type Message, messageOf, say, type TalkReport } from './talk.ts'

export type KillOptions = {
  readonly directory: string
  readonly rounds: number
  readonly seed: number
  readonly onRound?: (round: number) => void
}

export type KillReport = TalkReport & {
  readonly talk: readonly Acknowledged[]
  readonly rounds: number
  /** Kills while a message had no answer yet. */
  readonly amidTurns: number
  /** Kills before the service listened. */
  readonly amidStarts: number
  readonly acknowledged: number
  /** Messages sent again after a kill before their answer. */
  readonly sentAgain: number
  readonly flaws: readonly string[]
}

const PASSWORD = 'a long walk by the river'
const MESSAGES_A_ROUND = 4
const START_KILLS = 0.15

/**
 * Holds conversations in which every round ends with kill -9 at a random moment. Unacknowledged messages are
 * sent again after the restart, with the same id.
 */
export async function killConversations(options: KillOptions): Promise<KillReport> {
  const { directory, rounds, seed } = options
  const random = createRandom(seed)
  const acknowledged: Acknowledged[] = []
  const contradictions: string[] = []
  let waiting: Message[] = []
  let cookie: string | undefined
  let messages = 0
  let amidTurns = 0
  let amidStarts = 0
  let sentAgain = 0
  /** Kills are drawn from within this time after sending, which adapts to the speed of the machine. */
  let windowMs = 200
  let startMs = 1000

  async function connect(service: ServiceProcess) {
    const client = createClient(await service.listening)
    if (cookie === undefined) {
      const installed = await client.post('/api/install', {
        password: PASSWORD,
        setupCode: service.setupCode(),
      })
      if (installed.status !== 201) throw new Error(`installing failed: ${installed.text}`)
      cookie = client.cookie()
    }
    client.useCookie(cookie)
    return client
  }

  /** A repeated message must get the same answer as before. */
  function take(answer: Acknowledged): void {
    const before = acknowledged.find(({ message }) => message === answer.message)
    if (!before) acknowledged.push(answer)
    else if (before.turnId !== answer.turnId || before.reply !== answer.reply)
      contradictions.push(`“${answer.message.text}” was answered twice, differently`)
  }

  for (let round = 0; round < rounds; round += 1) {
    options.onRound?.(round)
    const startedAtMs = performance.now()
    const service = startServiceProcess(directory)
    if (cookie !== undefined && random.chance(START_KILLS)) {
      await sleep(random.next() * startMs)
      await service.kill()
      amidStarts += 1
      continue
    }
    const client = await connect(service)
    startMs = startMs * 0.8 + (performance.now() - startedAtMs) * 0.2
    const fresh = Array.from({ length: MESSAGES_A_ROUND }, (_, index) => messageOf(messages + index, random))
    messages += fresh.length
    sentAgain += waiting.length
    const asked = acknowledged.length > 0 ? [random.pick(acknowledged).message] : []
    const open = new Set([...waiting, ...fresh])
    const sent = [...open, ...asked].map(async (message) => {
      const answer = await say(client, message)
      if (!answer) return
      take(answer)
      open.delete(message)
    })
    await sleep(random.next() * windowMs)
    const isAmid = open.size > 0
    await service.kill()
    await Promise.all(sent)
    waiting = [...open]
    if (isAmid) amidTurns += 1
    windowMs = Math.min(2000, windowMs * (isAmid ? 1.1 : 0.7))
  }

  const service = startServiceProcess(directory)
  const client = await connect(service)
  for (const message of waiting) {
    const answer = await say(client, message)
    if (answer) take(answer)
    else contradictions.push(`“${message.text}” could not be said after the last start`)
  }
  const code = await service.stop()
  if (code !== 0) contradictions.push(`the last stop ended with ${code}: ${service.output()}`)

  const { events, flaws } = survey(directory)
  const talk = examineTalk(events, acknowledged)
  return {
    ...talk.report,
    rounds,
    amidTurns,
    amidStarts,
    acknowledged: acknowledged.length,
    talk: acknowledged,
    sentAgain,
    // This disk never fails, so no call may fail.
    flaws: [
      ...contradictions,
      ...flaws,
      ...talk.flaws,
      ...(talk.report.failedCalls > 0 ? [`${talk.report.failedCalls} calls failed`] : []),
    ],
  }
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
