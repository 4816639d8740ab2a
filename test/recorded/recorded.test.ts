import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openLedgerReadOnly, viewsFile } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { createRandom } from '../support/random.ts'
import { PASSWORD } from '../support/service.ts'
import { comparedHeaders, type Exchange, exchange, firstDifference, type Headers } from './exchange.ts'
import { copyData, READING_ENVIRONMENT, readSession } from './places.ts'
import { type Ask, subjects, UNREAD_ROUTES } from './requests.ts'
import { type Conversation, talk } from './sockets.ts'
import { type Started, startOver } from './start.ts'
import { isRecording, readTranscript, writeTranscript } from './transcripts.ts'

/** Further differences would hide the first one. */
const MAX_DIFFERENCES = 10

function headOf(directory: string) {
  const db = openLedgerReadOnly(directory)
  const head = createReader(db).head()
  db.close()
  return head
}

/** Starts the service over a copy, right after the last fact. */
async function startReading(directory: string): Promise<Started> {
  const { cookie, now } = readSession()
  const nowMs = Date.parse(now)
  const service = await startOver({
    directory,
    environment: READING_ENVIRONMENT,
    nowMs: () => nowMs,
    random: createRandom(1).next,
  })
  service.client.useCookie(cookie)
  return service
}

function fail(differences: readonly string[]): void {
  if (differences.length === 0) return
  const shown = differences.slice(0, MAX_DIFFERENCES)
  throw new Error(`${differences.length} responses differ from the transcript:\n${shown.join('\n')}`)
}

async function record(name: string, service: Started, standard: Headers): Promise<void> {
  const exchanges: Exchange[] = []
  const ask: Ask = async (request, more = {}) => {
    const [recorded, answer] = await exchange(service.client, { request, ...more }, standard)
    exchanges.push(recorded)
    return answer
  }
  const look = (path: string) => service.client.get(path)
  await subjects[name]?.(ask, { session: readSession(), look })
  writeTranscript(name, exchanges)
}

async function compare(name: string, service: Started, standard: Headers): Promise<void> {
  const differences: string[] = []
  for (const expected of readTranscript<Exchange[]>(name)) {
    const [actual] = await exchange(service.client, expected.asked, standard)
    const difference = firstDifference(expected, actual)
    if (difference !== null) differences.push(`${expected.asked.request}: ${difference}`)
  }
  fail(differences)
}

describe.each([
  { views: 'as they were left', isRebuilt: false },
  { views: 'rebuilt from the ledger', isRebuilt: true },
])('views $views', ({ isRebuilt }) => {
  const records = isRecording && !isRebuilt
  let directory = ''
  let head = { seq: 0, hash: '' }
  let service: Started

  beforeAll(async () => {
    directory = copyData()
    head = headOf(directory)
    if (isRebuilt) rmSync(viewsFile(directory))
    service = await startReading(directory)
  })
  afterAll(async () => {
    await service?.stop()
    rmSync(directory, { recursive: true, force: true })
  })

  test('carries the standard headers', async () => {
    const headers = comparedHeaders((await service.client.get('/health')).headers)
    if (records) writeTranscript('standard-headers', headers)
    expect(headers).toEqual(readTranscript('standard-headers'))
  })

  test.for(Object.keys(subjects).filter((name) => name !== 'strangers'))(
    'answers as recorded: %s',
    async (name) => {
      const standard = readTranscript<Headers>('standard-headers')
      await (records ? record : compare)(name, service, standard)
    },
  )

  test('talks on the chat socket as recorded', async () => {
    const conversations = await talk(service, readSession(), head.seq)
    if (records) writeTranscript('chat-socket', conversations)
    const expected = readTranscript<Conversation[]>('chat-socket')
    const difference = firstDifference(expected, conversations)
    fail(difference === null ? [] : [`chat socket: ${difference}`])
  })

  test('answers strangers as recorded', async () => {
    await (records ? record : compare)('strangers', service, readTranscript<Headers>('standard-headers'))
  })

  test('appends nothing when read', () => {
    expect(headOf(directory)).toEqual(head)
  })

  test('signs the owner in with the recorded password and appends only that fact', async () => {
    service.client.useCookie(undefined)
    expect((await service.client.post('/login', { password: PASSWORD })).status).toBe(200)
    const { events } = (await service.client.get('/api/timeline?limit=1')).json
    expect(events.at(-1)).toMatchObject({ seq: head.seq + 1, type: 'owner.signed-in' })
  })
})

type Operation = { readonly tags?: readonly string[] }

test('reads every address of the contract except those listed with a reason', () => {
  const exchanges = Object.keys(subjects).flatMap((name) => readTranscript<Exchange[]>(name))
  const contract = exchanges.find(({ asked }) => asked.request === 'GET /openapi.json')?.json
  const { paths } = contract as { paths: Record<string, { get?: Operation }> }
  const unread = Object.entries(paths).flatMap(([path, { get }]) => {
    if (!get || get.tags?.includes('Pages')) return []
    const pattern = new RegExp(
      `^GET ${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/?]+')}(?:\\?|$)`,
    )
    return exchanges.some(({ asked }) => pattern.test(asked.request)) ? [] : [path]
  })
  expect(unread.sort()).toEqual(Object.keys(UNREAD_ROUTES).sort())
})
