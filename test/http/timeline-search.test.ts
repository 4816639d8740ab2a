import { expect, test } from 'vitest'
import { newSalt, toDraft } from '../../ledger/codec.ts'
import type { NewEvent } from '../../ledger/event.ts'
import { testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'
import { newId, openTestWriter, said } from '../support/writer.ts'

const inAuckland = '2031-01-01T00:30:00.000+13:00'
const NOW_MS = Date.parse(inAuckland)

type Entry = { readonly at: string; readonly event: NewEvent }

/** A service in Auckland, where it is already the first of January, with earlier messages. */
async function startWith(...entries: readonly Entry[]) {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  for (const { at, event } of entries) {
    writer.commit([[toDraft(event, { newId, newSalt, at: new Date(at).toISOString() })]])
  }
  writer.settle()
  writer.close()
  const { client } = await startWholeService({
    directory,
    nowMs: () => NOW_MS,
    environment: { TIMEZONE: 'Pacific/Auckland' },
  })
  const search = async (query: Record<string, string | number>) => {
    const given = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
    return client.get(`/api/timeline/search?${given}`)
  }
  const seqsOf = async (query: Record<string, string | number>): Promise<number[]> => {
    const answer = await search({ q: 'tea', ...query })
    expect(answer.status, answer.text).toBe(200)
    return answer.json.hits.map(({ seq }: { seq: number }) => seq)
  }
  return { client, search, seqsOf }
}

const tea = (at: string, more: Partial<NewEvent> = {}): Entry => ({ at, event: said('tea', more) })

test("filters by days in the owner's time zone, both inclusive", async () => {
  const { search, seqsOf } = await startWith(
    tea('2030-01-01T23:59:59.999+13:00'),
    tea('2030-12-02T23:59:59.999+13:00'),
    tea('2030-12-03T00:00:00.000+13:00'),
    tea('2030-12-25T23:59:59.999+13:00'),
    tea('2030-12-26T00:00:00.000+13:00'),
    tea('2030-12-31T23:59:59.999+13:00'),
    tea('2031-01-01T00:00:00.000+13:00'),
  )
  expect(await seqsOf({})).toEqual([7, 6, 5, 4, 3, 2, 1])
  expect(await seqsOf({ period: 'today' })).toEqual([7])
  expect(await seqsOf({ period: 'this_year' })).toEqual([7])
  expect(await seqsOf({ period: 'last_7_days' })).toEqual([7, 6, 5])
  expect(await seqsOf({ period: 'last_30_days' })).toEqual([7, 6, 5, 4, 3])
  expect(await seqsOf({ from: '2030-12-26', to: '2030-12-31' })).toEqual([6, 5])
  expect(await seqsOf({ to: '2030-01-01' })).toEqual([1])
  expect(await seqsOf({ from: '2030-12-31' })).toEqual([7, 6])
  expect(await seqsOf({ from: '2030-12-31', to: '2030-12-30' })).toEqual([])
  expect(await seqsOf({ from: '0001-01-01', to: '9999-12-31' })).toEqual([7, 6, 5, 4, 3, 2, 1])
  const days = async (query: Record<string, string>) => {
    const { from, to } = (await search({ q: 'tea', ...query })).json
    return [from, to]
  }
  expect(await days({ period: 'last_7_days' })).toEqual(['2030-12-26', '2031-01-01'])
  expect(await days({ period: 'last_30_days' })).toEqual(['2030-12-03', '2031-01-01'])
  expect(await days({ from: '2030-02-28' })).toEqual(['2030-02-28', undefined])
  // Without days, the response has no bounds.
  expect(Object.keys((await search({ q: 'tea' })).json)).toEqual(['hits', 'nextCursor'])
})

test('treats a day on which clocks change as long as it is in that time zone', async () => {
  const { seqsOf } = await startWith(
    tea('2030-04-07T00:00:00.000+13:00'),
    tea('2030-04-07T23:59:59.999+12:00'),
    tea('2030-04-08T00:00:00.000+12:00'),
    tea('2030-09-29T00:00:00.000+12:00'),
    tea('2030-09-29T23:59:59.999+13:00'),
    tea('2030-09-30T00:00:00.000+13:00'),
  )
  expect(await seqsOf({ from: '2030-04-07', to: '2030-04-07' })).toEqual([2, 1])
  expect(await seqsOf({ from: '2030-09-29', to: '2030-09-29' })).toEqual([5, 4])
})

test('returns the original words as snippet, and the same with matches marked', async () => {
  const { search } = await startWith({ at: inAuckland, event: said('The lighthouse keeper sings') })
  expect((await search({ q: 'lighthouse keeper' })).json.hits).toMatchObject([
    {
      snippet: 'The lighthouse keeper sings',
      marked: 'The \u0002lighthouse\u0003 \u0002keeper\u0003 sings',
    },
  ])
})

test('filters by channel, and pages within it', async () => {
  const channels = ['chat', 'voice', 'sms', 'inner'] as const
  const at = (index: number) => new Date(Date.UTC(2030, 5, 1) + index * 86_400_000).toISOString()
  const { search, seqsOf } = await startWith(
    ...Array.from({ length: 40 }, (_, index) => tea(at(index), { channel: channels[index % 4] })),
  )
  for (const [offset, channel] of channels.entries()) {
    const all = Array.from({ length: 10 }, (_, index) => index * 4 + offset + 1).reverse()
    expect(await seqsOf({ channel })).toEqual(all)
    const found: number[] = []
    let cursor: string | null = null
    do {
      const { json } = await search({ q: 'tea', channel, limit: 3, ...(cursor === null ? {} : { cursor }) })
      for (const hit of json.hits) {
        expect(hit.channel).toBe(channel)
        found.push(hit.seq)
      }
      cursor = json.nextCursor
    } while (cursor !== null)
    expect(found).toEqual(all)
  }
  expect(await seqsOf({ channel: 'system' })).toEqual([])
  expect(await seqsOf({ channel: 'sms', from: '2030-06-01', to: '2030-06-08' })).toEqual([7, 3])
  expect((await search({ q: 'sms' })).json.hits).toEqual([])
})

test.each([
  ['channel', 'letter'],
  ['channel', ''],
  ['period', 'yesterday'],
  ['from', '2030-02-30'],
  ['from', '2030-1-1'],
  ['to', '2030-01-01T00:00:00Z'],
])('refuses a %s of %j with 400', async (name, value) => {
  const { search } = await startWith()
  const answer = await search({ q: 'tea', [name]: value })
  expect(answer.status).toBe(400)
  expect(answer.json.errors).toMatchObject([{ path: name }])
})

test('finds all of a period or channel without words, newest first', async () => {
  const { seqsOf } = await startWith(
    tea('2030-12-24T10:00:00.000+13:00'),
    tea('2030-12-25T10:00:00.000+13:00'),
    tea('2030-12-25T11:00:00.000+13:00', { channel: 'sms' }),
    tea('2030-12-26T10:00:00.000+13:00'),
  )
  expect(await seqsOf({ q: '', from: '2030-12-25', to: '2030-12-25' })).toEqual([3, 2])
  expect(await seqsOf({ q: ' ', channel: 'sms' })).toEqual([3])
  expect(await seqsOf({ q: '', from: '2030-12-20', limit: 2 })).toEqual([4, 3])
  expect(await seqsOf({ q: '', from: '2030-12-20', limit: 2, cursor: 3 })).toEqual([2, 1])
  expect(await seqsOf({ q: '' })).toEqual([])
})

test('rejects a named period with from or to with 400', async () => {
  const { search } = await startWith()
  const answer = await search({ q: 'tea', period: 'today', from: '2030-01-01' })
  expect(answer.status).toBe(400)
  expect(answer.json.errors).toEqual([{ path: 'period', message: 'cannot be combined with from and to' }])
})
