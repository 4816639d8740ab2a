import { isMemoryRequest, type RecordedRequest } from '../doubles/model/model-double.ts'
import { httpFaults } from '../doubles/model/script.ts'
import { PASSWORD } from '../support/service.ts'
import type { Trials } from './trial.ts'
import type { World } from './world.ts'

const RECORDING = { audioBase64: Buffer.from('RIFF of a recording').toString('base64'), format: 'wav' }

const servicesOf = ({ otherModels }: World, title = 'Away') =>
  JSON.stringify([{ id: 'away', kind: 'other', title, baseUrl: otherModels.url, api: 'auto' }])

/**
 * Does something that asks one of the two model services, and returns the id of that service. `about` is a word of the
 * request: background work of an earlier trial may still be asking.
 */
async function askedBy(
  world: World,
  path: string,
  act: () => Promise<unknown>,
  { isMemory = false, about = '' } = {},
): Promise<string> {
  const { model, otherModels, put, until } = world
  await put({ SERVICES: servicesOf(world) })
  const isMeant = (request: RecordedRequest) =>
    isMemoryRequest(request) === isMemory && JSON.stringify(request.body).includes(about)
  const asked = () => [model, otherModels].map((double) => double.requests(path).filter(isMeant).length)
  const before = asked()
  await act()
  const isMore = (counts: number[]) => counts.some((count, at) => count > (before[at] ?? 0))
  const counts = await until(`a request to ${path}`, asked, isMore)
  return counts[1] === before[1] ? 'main' : 'away'
}

const speak = ({ ok, client }: World) => ok(client.post('/_dev/walkie/voice', RECORDING))

export const serviceTrials = {
  SERVICES: {
    values: (world) => [servicesOf(world, 'One'), servicesOf(world, 'Two')],
    see: async ({ ok, client }) => (await ok(client.get('/api/services'))).services[1].title,
    expected: (value) => JSON.parse(String(value))[0].title,
  },
  SERVICE_KEYS: {
    values: ['{"away":"a-first-key"}', '{"away":"a-second-key"}'],
    async see(world, value) {
      const { ok, client, otherModels } = world
      // They count for the addresses that they were entered for.
      const entries = { SERVICES: servicesOf(world), SERVICE_KEYS: value }
      await ok(client.put('/api/config', { entries, password: PASSWORD }))
      await ok(client.get('/api/services/away/models'))
      return otherModels.requests('/models').at(-1)?.headers.authorization
    },
    expected: (value) => `Bearer ${JSON.parse(String(value)).away}`,
  },
  CHAT_SERVICE: {
    values: ['away', 'main'],
    see: (world) => askedBy(world, '/responses', () => world.say('Who are you?')),
  },
  UTILITY_SERVICE: {
    values: ['away', 'main'],
    given: { UTILITY_MODEL: 'utility' },
    see: (world) =>
      askedBy(
        world,
        '/responses',
        async () => {
          const { conversationId } = await world.say('My sister is called Ada, and she lives in Porto.')
          await world.ok(world.client.post(`/api/conversations/${conversationId}/end`))
        },
        { isMemory: true },
      ),
  },
  EMBEDDING_SERVICE: {
    values: ['away', 'main'],
    given: { EMBEDDING_MODEL: 'vectors' },
    see: (world) =>
      askedBy(world, '/embeddings', () => world.say('My brother is called Karl.'), { about: 'Karl' }),
  },
  TRANSCRIPTION_SERVICE: {
    values: ['away', 'main'],
    given: { TRANSCRIPTION_MODEL: 'ears', EMBEDDING_MODEL: 'vectors' },
    see: (world) => askedBy(world, '/audio/transcriptions', () => speak(world)),
  },
  SPEECH_SERVICE: {
    values: ['away', 'main'],
    given: { TRANSCRIPTION_MODEL: 'ears' },
    see: (world) => askedBy(world, '/audio/speech', () => speak(world)),
  },
  REALTIME_SERVICE: {
    values: ['nowhere', 'main'],
    async see({ ok, client }) {
      const { uses } = await ok(client.get('/api/services'))
      return uses.find(({ use }: { use: string }) => use === 'realtime').available
    },
    expected: (value) => value === 'main',
  },
  CHAT_FALLBACK: {
    values: ['[{"service":"away","model":"m"}]', '[{"service":"builtin","model":"builtin-1"}]'],
    async see(world) {
      await world.put({ SERVICES: servicesOf(world) })
      world.model.reply({ fault: httpFaults.unauthorised() })
      const { turnId } = await world.say('What time is it?')
      return (await world.ok(world.client.get(`/api/turns/${turnId}`))).model.model
    },
    expected: (value) => JSON.parse(String(value))[0].model,
  },
} as const satisfies Trials
