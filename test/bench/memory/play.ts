import { existsSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import * as z from 'zod'
import { closing } from '../../../ledger/closing.ts'
import { ledgerFile, openLedgerReadOnly } from '../../../ledger/files.ts'
import { createReader } from '../../../ledger/reader.ts'
import type { MemoryRow } from '../../../projections/memory-queries.ts'
import { UNDO_MS } from '../../../src/erasing/erasures.ts'
import type { RecallAnswer } from '../../../src/memory/recall/recall-port.ts'
import type { StructuredModel } from '../../../src/model/port.ts'
import { type Mind, openMind } from '../../memory/mind.ts'
import { DAYS, type Forget, type Message, type Month, type Probe, START_MS } from './month.ts'
import { contains } from './words.ts'

const DAY_MS = 86_400_000
const BUDGETS = { whole: null, small: 250, large: 500 } as const

/** A stored memory with the messages it was learned from. */
export type Stored = Pick<MemoryRow, 'memoryId' | 'text' | 'subject' | 'value' | 'supersededBy'> & {
  readonly status: string
  readonly sources: readonly Message[]
}

export type Line = { readonly text: string; readonly relevance: number | null }

/** What recall shows for a probe: as configured by default, and within 250 and 500 tokens. */
export type Asked = {
  readonly probe: Probe
  readonly lines: readonly Line[]
  readonly tokens: number
  readonly small: readonly string[]
  readonly large: readonly string[]
  /** What the `recall` tool returns for the question. */
  readonly lookedUp: readonly string[]
}

export type Played = {
  readonly month: Month
  readonly stored: readonly Stored[]
  readonly asked: readonly Asked[]
  /** The texts of current memories that a request to forget removed without being asked to. */
  readonly lost: readonly string[]
}

export type PlayOptions = { readonly utility: StructuredModel | null; readonly directory: string }

/** Lives through a month, day by day, and asks its probes on the last evening. */
export async function playMonth(month: Month, options: PlayOptions): Promise<Played> {
  let answer: RecallAnswer | null = null
  const mind = await openLife(options, (given) => {
    answer = given
  })
  try {
    const lost = await live(mind, month)
    const bySeq = new Map(
      saidIn(mind).flatMap(({ seq }, index) => {
        const message = month.messages[index]
        return message ? [[seq, message] as const] : []
      }),
    )
    const asked: Asked[] = []
    for (const probe of month.probes) {
      answer = null
      asked.push(await ask(mind, probe, asked.length, () => answer))
    }
    return { month, stored: storedIn(mind, bySeq), asked, lost }
  } finally {
    await mind.close()
  }
}

/** Opens a life at its start, or where its ledger ends. The caller closes it. */
export function openLife(options: PlayOptions, onRecalled?: (answer: RecallAnswer) => void): Promise<Mind> {
  return openMind({
    ...options,
    startMs: lastMomentMs(options.directory) ?? START_MS,
    ...(onRecalled ? { onRecalled } : {}),
    onEnd: () => undefined,
  })
}

function lastMomentMs(directory: string): number | null {
  if (!existsSync(ledgerFile(directory))) return null
  using db = closing(openLedgerReadOnly(directory))
  const reader = createReader(db)
  const [last] = reader.readAfter(reader.head().seq - 1, 1)
  return last ? Date.parse(last.at) : null
}

/**
 * Lives from where the ledger ends to the end of the month, as if nothing had interrupted it. Returns the texts
 * of memories that a request to forget removed without being asked to.
 */
export async function live(mind: Mind, month: Month, onMessage?: () => void): Promise<string[]> {
  const lost: string[] = []
  const said = saidIn(mind)
  const [last] = said.slice(-1)
  const lastMessage = month.messages[said.length - 1]
  if (last && lastMessage) {
    const isAnswered = mind.facts('turn.completed').some(({ turnId }) => turnId === last.turnId)
    if (!isAnswered && lastMessage.party === 'owner')
      await mind.finish(last, conversationOf(lastMessage), lastMessage.reply)
    await mind.settle()
    await finishErasures(mind)
    for (const forget of lastMessage.forgets) lost.push(...(await carryOut(mind, month, forget, last.seq)))
  }
  for (let day = lastMessage?.day ?? 1; day <= DAYS; day += 1) {
    const today = month.messages.slice(said.length).filter((each) => each.day === day)
    for (const message of today) {
      onMessage?.()
      const seq = await say(mind, message)
      for (const forget of message.forgets) lost.push(...(await carryOut(mind, month, forget, seq)))
    }
    mind.advance(START_MS + day * DAY_MS - mind.nowMs())
    await mind.settle()
  }
  return lost
}

/** What was said in a life, in order. */
function saidIn(mind: Mind) {
  return mind.facts('chat.message.received', 'sms.received', 'call.utterance.heard')
}

const conversationOf = ({ party, day }: Message) => (party === 'guest' ? `call ${day}` : `day ${day}`)

/** The memory learns from a turn before the next one, as the turns are minutes apart. */
async function say(mind: Mind, message: Message): Promise<number> {
  const { text, reply, at, party } = message
  const { seq } = await mind.say(text, { reply, at, party, conversationId: conversationOf(message) })
  await mind.settle()
  return seq
}

/** Forgets with the tool, as the assistant's model does. Returns the other memories that went with it. */
async function carryOut(mind: Mind, month: Month, forget: Forget, seq: number): Promise<string[]> {
  const before = currentIn(mind)
  const isMeant = ({ text, value }: MemoryRow) => contains(`${text} ${value}`, forget.words)
  const result = await mind.use('forget', { query: forget.query }, seq)
  if (!result.ok && result.reason === 'ambiguous' && forget.factId !== null) {
    // The owner chooses from the list.
    const fact = month.facts.get(forget.factId)
    const chosen = before.filter(({ text, value }) => fact && contains(`${text} ${value}`, fact.value))
    for (const { memoryId } of chosen) await mind.use('forget', { query: memoryId }, seq)
  }
  await mind.settle()
  await finishErasures(mind)
  const left = new Set(currentIn(mind).map(({ memoryId }) => memoryId))
  return before
    .filter((memory) => !left.has(memory.memoryId) && !isMeant(memory))
    .map(({ text }) => text ?? '')
}

/** Lets the minute for undo pass, and waits until the words are erased, so that every run erases alike. */
async function finishErasures(mind: Mind): Promise<void> {
  mind.advance(2 * UNDO_MS)
  const isPending = () =>
    mind.erasures.list(null, 10).erasures.some(({ status }) => status === 'pending' || status === 'erasing')
  for (let round = 0; isPending() && round < 200; round += 1) {
    // The reactor looks again whenever something is said.
    if (round % 20 === 0) await mind.use('recall', { query: 'anything' }, null)
    await setTimeout(5)
  }
  if (isPending()) throw new Error('an erasure does not end')
}

async function ask(
  mind: Mind,
  probe: Probe,
  index: number,
  answerOf: () => RecallAnswer | null,
): Promise<Asked> {
  const { maxInjectedTokens } = mind.memory.config.get()
  const texts: Record<keyof typeof BUDGETS, string[]> = { whole: [], small: [], large: [] }
  let answer: RecallAnswer | null = null
  for (const [name, budget] of Object.entries(BUDGETS) as [keyof typeof BUDGETS, number | null][]) {
    mind.memory.config.put({ maxInjectedTokens: budget ?? maxInjectedTokens })
    const id = `probe ${index} ${name}`
    const recalled = await mind.memory.recall({
      text: probe.question,
      turnId: id,
      conversationId: id,
      spanId: null,
      channel: 'chat',
      beforeSeq: mind.storage.ledger.head().seq + 1,
      inContextSeqs: [],
    })
    texts[name] = recalled.text === null ? [] : recalled.text.split('\n')
    if (name === 'whole') answer = answerOf()
  }
  mind.memory.config.put({ maxInjectedTokens })
  return {
    probe,
    lines: withRelevance(texts.whole, answer),
    tokens: texts.whole.length === 0 ? 0 : tokensOf(answer),
    small: texts.small,
    large: texts.large,
    lookedUp: await lookUp(mind, probe.question),
  }
}

const lookedUpSchema = z.object({
  memories: z.array(z.object({ text: z.string() })),
  said: z.array(z.object({ text: z.string() })),
})

async function lookUp(mind: Mind, query: string): Promise<string[]> {
  const result = await mind.use('recall', { query }, null)
  if (!result.ok) throw new Error(result.message)
  const { memories, said } = lookedUpSchema.parse(result.data)
  return [...memories, ...said].map(({ text }) => text)
}

const tokensOf = (answer: RecallAnswer | null) =>
  (answer?.shown ?? []).reduce((sum, { tokens }) => sum + tokens, 0)

/** Lines are shown oldest first, so in the order of their seqs. */
function withRelevance(texts: readonly string[], answer: RecallAnswer | null): Line[] {
  const seqs = [...(answer?.shown ?? [])].map(({ seq }) => seq).sort((a, b) => a - b)
  const relevances = new Map(answer?.hits.map(({ seq, relevance }) => [seq, relevance]))
  return texts.map((text, index) => ({
    text,
    relevance: seqs.length === texts.length ? (relevances.get(seqs[index] ?? 0) ?? null) : null,
  }))
}

function rowsIn({ storage }: Mind): MemoryRow[] {
  return storage.views.prepare<[], MemoryRow>('SELECT * FROM memories ORDER BY storedSeq').all()
}

export function isCurrent({ status }: { readonly status: string }): boolean {
  return status === 'active' || status === 'contested'
}

const currentIn = (mind: Mind) => rowsIn(mind).filter(isCurrent)

function storedIn(mind: Mind, bySeq: ReadonlyMap<number, Message>): Stored[] {
  return rowsIn(mind).map(({ memoryId, text, subject, value, supersededBy, status }) => ({
    memoryId,
    text,
    subject,
    value,
    supersededBy,
    status,
    sources: mind.queries.sources(memoryId).flatMap((seq) => bySeq.get(seq) ?? []),
  }))
}
