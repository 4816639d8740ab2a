import { createHash } from 'node:crypto'
import type { AnyEvent } from '../../ledger/reader.ts'
import type { Client } from '../http/client.ts'
import type { Random } from '../support/random.ts'

/** A message that makes the builtin model use a tool, and the fact that the tool records. */
export type Message = {
  readonly clientMessageId: string
  readonly text: string
  /** A word that occurs only in this message and its results. */
  readonly mark: string
  readonly tool: 'remember' | 'create_note' | 'set_timer'
}

export type Acknowledged = {
  readonly message: Message
  readonly turnId: string
  /** The reply; null if the turn failed. */
  readonly reply: string | null
}

const madeBy = { remember: 'memory.stored', create_note: 'note.created', set_timer: 'timer.set' } as const

export function messageOf(index: number, random: Random): Message {
  const tool = random.pick(['remember', 'create_note', 'set_timer'] as const)
  const mark = `mark${index}x${random.below(1e9).toString(36)}`
  const text = {
    remember: `Remember that my friend ${mark} likes green tea.`,
    create_note: `Create a note called ${mark}: bread and butter`,
    set_timer: `Remind me in 500 minutes to call ${mark}`,
  }[tool]
  return { clientMessageId: `torture-${mark}`, text, mark, tool }
}

/** Sends a message. Null if the connection broke or the service answered 503, so the outcome is unknown. */
export async function say(client: Client, message: Message): Promise<Acknowledged | null> {
  const { text: content, clientMessageId } = message
  let answer: Awaited<ReturnType<Client['post']>>
  try {
    answer = await client.post('/api/chat', { content, clientMessageId })
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null
    throw error
  }
  if (answer.status === 200) return { message, turnId: answer.json.turnId, reply: answer.json.reply.text }
  if (answer.status === 503) return null
  if (answer.json?.code === 'turn_interrupted') return { message, turnId: '', reply: null }
  throw new Error(`unexpected: ${answer.status} ${answer.text}`)
}

export type TalkReport = {
  readonly events: number
  readonly turns: number
  readonly interrupted: number
  /** Calls that a disk fault cut short and that were recorded as failed. */
  readonly failedCalls: number
  readonly made: Readonly<Record<string, number>>
}

/** Checks that a ledger holds every acknowledged message once, with one outcome; flaws are sentences. */
export function examineTalk(
  events: readonly AnyEvent[],
  acknowledged: readonly Acknowledged[],
): { flaws: string[]; report: TalkReport } {
  const flaws: string[] = []
  const ends = new Map<string, number>()
  const returned = new Map<string, number>()
  const made: Record<string, number> = { 'memory.stored': 0, 'note.created': 0, 'timer.set': 0 }
  const failedCalls = new Set<string | null>()
  let interrupted = 0
  const by = Map.groupBy(events, ({ type }) => type)
  const all = <T extends AnyEvent['type']>(type: T) =>
    (by.get(type) ?? []) as Extract<AnyEvent, { type: T }>[]
  const count = (counts: Map<string, number>, key: string) => void counts.set(key, (counts.get(key) ?? 0) + 1)

  for (const { turnId, facts } of [...all('turn.completed'), ...all('turn.failed')]) {
    count(ends, turnId ?? '')
    if ('kind' in facts) interrupted += 1
    if ('kind' in facts && facts.kind !== 'interrupted') flaws.push(`turn ${turnId} failed: ${facts.kind}`)
  }
  for (const { turnId, facts } of all('tool.returned')) {
    count(returned, `${turnId} ${facts.callId}`)
    if (facts.reason === 'fault') failedCalls.add(turnId)
    else if (facts.outcome !== 'ok')
      flaws.push(`${facts.tool} of turn ${turnId}: ${facts.outcome} ${facts.reason}`)
  }
  for (const [call, times] of returned) if (times > 1) flaws.push(`the call ${call} returned ${times} times`)

  const messages = Map.groupBy(all('chat.message.received'), ({ key }) => key)
  for (const each of all('chat.message.received')) {
    const times = ends.get(each.turnId ?? '') ?? 0
    if (times !== 1) flaws.push(`turn ${each.turnId} has ${times} outcomes`)
  }
  for (const { message, turnId, reply } of acknowledged) {
    const key = `chat:${createHash('sha256').update(message.clientMessageId).digest('hex')}`
    const received = messages.get(key) ?? []
    const [first] = received
    if (received.length !== 1 || first?.body?.text !== message.text)
      flaws.push(`“${message.text}” was acknowledged and is recorded ${received.length} times`)
    const sameWords = all('chat.message.received').filter(({ body }) => body?.text === message.text)
    if (sameWords.length !== 1)
      flaws.push(`“${message.text}” was sent once and is recorded ${sameWords.length} times`)
    const replies = all('chat.reply.sent').filter((event) => event.turnId === first?.turnId)
    if (reply !== null) {
      if (first?.turnId !== turnId) flaws.push(`“${message.text}” was acknowledged as another turn`)
      if (replies.length !== 1 || replies[0]?.body?.text !== reply)
        flaws.push(`the reply to “${message.text}” is recorded ${replies.length} times, or differs`)
    }
    const things = all(madeBy[message.tool]).filter(({ body }) => JSON.stringify(body).includes(message.mark))
    made[madeBy[message.tool]] = (made[madeBy[message.tool]] ?? 0) + things.length
    const mayBeAbsent = reply === null || failedCalls.has(turnId)
    if (things.length > 1 || (things.length === 0 && !mayBeAbsent))
      flaws.push(`“${message.text}” made ${things.length} of ${madeBy[message.tool]}`)
  }
  const report = { events: events.length, turns: ends.size, interrupted, failedCalls: failedCalls.size, made }
  return { flaws, report }
}
