import type { NewEvent } from '../../ledger/event.ts'
import { createIds } from '../../ledger/ids.ts'
import type { ContextItem } from '../../src/agent/context/context.ts'
import { createProvenance } from '../../src/agent/turn/provenance.ts'
import { openStorage } from '../../src/storage/storage.ts'
import { openErasing } from '../support/erasing.ts'
import { openTestQueries } from '../support/queries.ts'
import { median, round } from './statistics.ts'
import type { PreparedLedger } from './views.ts'

const EXCHANGES = 1000
const ERASED = 15
const POLITE = [
  'You are welcome. Let me know if there is anything else.',
  'Noted. Is there anything else I can help with?',
  'Gladly. Enjoy the rest of your day!',
]
const THINGS = ['garden', 'harbour', 'umbrella', 'report', 'train', 'bread', 'library', 'bicycle']

/**
 * Milliseconds to erase one message, from the request until no file holds a byte of it. The message is at the
 * end of the ledger, in a conversation of a thousand exchanges whose replies share their polite endings.
 */
export async function benchErasing(ledgers: readonly PreparedLedger[]) {
  const figures: Record<string, unknown> = {}
  const medians: number[] = []
  for (const { size, directory } of ledgers) {
    const { samples, events } = await eraseSome(directory)
    medians.push(median(samples))
    figures[size] = { medianMs: round(median(samples)), longestMs: round(Math.max(...samples)), events }
  }
  return { ...figures, ratio: round((medians.at(-1) ?? Number.NaN) / (medians[0] ?? Number.NaN)) }
}

async function eraseSome(directory: string) {
  const newId = createIds(Date.now)
  const storage = await openStorage({
    directory,
    nowMs: Date.now,
    newId,
    onWarning: () => undefined,
    onFatal: (error) => {
      throw error
    },
  })
  const queries = openTestQueries(directory)
  const { erasures } = openErasing(storage, queries)
  const messages = await converse(storage, newId)
  await storage.catchUpLagging()
  const samples: number[] = []
  let events = 0
  for (let index = 0; index < ERASED; index += 1) {
    const seq = messages[Math.floor((index * EXCHANGES) / ERASED)]
    const startedMs = performance.now()
    const outcome = await erasures.eraseNow({ kind: 'message', id: String(seq) })
    samples.push(performance.now() - startedMs)
    if ('erased' in outcome) events = Math.max(events, outcome.erased)
  }
  await erasures.close()
  await queries.close()
  await storage.close()
  return { samples, events }
}

/** Records a conversation as the agent does; returns the seqs of the owner's messages. */
async function converse(
  storage: Awaited<ReturnType<typeof openStorage>>,
  newId: () => string,
): Promise<number[]> {
  const { sourcesOf } = createProvenance()
  const past: ContextItem[] = []
  const messages: number[] = []
  const add = async (event: NewEvent) => {
    const appended = await storage.append([event])
    return (appended.status === 'appended' && appended.events[0]?.seq) || 0
  }
  for (let index = 0; index < EXCHANGES; index += 1) {
    const thing = THINGS[index % THINGS.length]
    const place = { conversationId: 'erased', spanId: 'erased', turnId: newId(), channel: 'chat' } as const
    const asked = `Tell me about the ${thing} number ${index}, please.`
    const text = `The ${thing} number ${index} is fine. ${POLITE[index % POLITE.length]}`
    const message = await add({
      type: 'chat.message.received',
      actor: 'owner',
      ...place,
      facts: {},
      body: { text: asked },
    })
    past.push({ item: { type: 'message', role: 'owner', text: asked }, seqs: [message], foreign: false })
    const derivedFrom = [...new Set([message, ...sourcesOf(text, [], past)])].sort((a, b) => a - b)
    const reply = await add({
      type: 'chat.reply.sent',
      actor: 'delegate',
      ...place,
      derivedFrom,
      facts: {},
      body: { text },
    })
    past.push({ item: { type: 'message', role: 'delegate', text }, seqs: [reply], foreign: false })
    messages.push(message)
  }
  return messages
}
