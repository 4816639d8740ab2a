import pLimit from 'p-limit'
import * as z from 'zod'
import type { Append, LedgerEvent, NewEvent } from '../../../ledger/event.ts'
import type { AnyEvent, LedgerReader } from '../../../ledger/reader.ts'
import type { Recall } from '../../lib/recall.ts'
import { innerLabels } from '../../model/port.ts'
import type { Tool } from '../../model/tool.ts'
import type { CallFact } from '../call/call-state.ts'
import type { SessionPlan, VoiceTool } from '../call/ports.ts'
import type { CallPlace, CallTurns } from './call-turns.ts'
import type { FactQueue } from './fact-queue.ts'
import { type Delimit, historyItem, recentHistory } from './history.ts'
import type { Keypad } from './keypad.ts'
import type { CallChain, CallTools, PastItem, PlacedMind, Tally, VoiceSettings } from './mind.ts'

/** Time limit for recall before the first words of a session. */
const OPENING_RECALL_MS = 400
/** How long a tool waits for the transcription of the words that caused it. */
const RECORDED_WITHIN_MS = 3_000
/** Number of recent facts whose words a reply may repeat. */
const SOURCES = 60
/** Number of earlier messages that recall uses at the start of a session. */
const TOPIC_ITEMS = 4
/** Number of messages of this call that recall uses before the caller's words are known. */
const TOPIC_WORDS = 2

export type OwnerMindOptions = {
  readonly place: CallPlace
  readonly turns: CallTurns
  readonly queue: FactQueue
  readonly ledger: LedgerReader
  readonly chain: CallChain
  /** The newest capsule of a conversation, for a chain that does not fit. */
  readonly capsuleText: (conversationId: string) => string | null
  readonly recall: Recall
  readonly tools: ReadonlyMap<string, Tool>
  readonly callTools: (call: {
    readonly append: Append
    readonly onFault: (error: unknown, tool: string) => void
  }) => CallTools
  /** The facts whose words a text repeats. */
  readonly sourcesOf: (text: string, own: readonly AnyEvent[], past: readonly PastItem[]) => readonly number[]
  /** Where requests to confirm something come from, for the owner. */
  readonly why: string
  readonly keypad: Pick<Keypad, 'right' | 'offer'>
  readonly instructions: () => string
  readonly voice: VoiceSettings
  readonly delimit: Delimit
  readonly timezone: () => string
  readonly nowMs: () => number
  readonly onFault: (error: unknown, message: string) => void
}

/** Reads replacements as text: no model accepts their opaque form here. */
const NO_MODEL = { provider: 'none', model: 'none' }

/** The delegate for the owner: the same chain, memories, tools and facts as in chat. */
export function createOwnerMind(options: OwnerMindOptions & { readonly conversationId: string }): PlacedMind {
  const { place, turns, queue, ledger, chain, tools, delimit, nowMs, conversationId } = options
  const { spanId, offeredSeq } = place
  const words = createLatestWords()
  /** The conversation as last read. */
  let past: readonly PastItem[] = []
  const runner = options.callTools({
    append: queue.append,
    onFault: (error, tool) => options.onFault(error, `tool ${tool} failed during a call`),
  })
  /** Facts of the conversation that this call has seen. Any other fact is news. */
  const known = new Set<number>()
  /** Facts that the current session has been given, so that none surfaces twice in it. */
  let given = new Set<number>()
  /** Facts of this call, and the memories that surfaced in it: a reply may repeat them. */
  let sources: number[] = []
  const utterances = new Set<number>()
  /** The latest words of this call, by either side. */
  let saidLast: readonly string[] = []
  let lastCue = ''
  /** What was barred when this call first read the chain. */
  let first: { readonly barred: ReadonlySet<number> } | null = null
  /** What the current turn has changed. */
  let tally: Tally & { readonly turnId: string } = { turnId: '', changes: 0, texts: 0 }
  const tooling = pLimit(1)

  const envelope = () => ({ conversationId, spanId, turnId: turns.currentId(), channel: 'voice' as const })
  const remember = (seqs: readonly number[]) => {
    sources = [...new Set([...sources, ...seqs])].slice(-SOURCES)
  }
  const derivation = (text: string, causedBy: number | null) => {
    // A session cannot forget, so facts barred since it began are sources: erasing them covers this text too.
    const seqs = new Set([...sources, ...(first === null ? [] : chain.barredSince(first))])
    const own = ledger.readSeqs([...seqs].sort((a, b) => a - b))
    const repeated = options.sourcesOf(text, own, past)
    return [...new Set([...(causedBy === null ? [] : [causedBy]), ...repeated])].sort((a, b) => a - b)
  }
  const readChain = async () => {
    const read = await chain.read(conversationId, NO_MODEL, { textOnly: true })
    first ??= { barred: read.barred }
    past = read.items
    return read.items
  }

  /** Recalls memories as delimited text; null if nothing new surfaces or the signal aborts. */
  async function surface(text: string, signal: AbortSignal): Promise<string | null> {
    if (text.trim() === '' || text === lastCue) return null
    lastCue = text
    const recalled = await options.recall({
      text,
      turnId: turns.currentId(),
      conversationId,
      spanId,
      channel: 'voice',
      beforeSeq: offeredSeq,
      inContextSeqs: given,
    })
    if (recalled.text === null) return null
    if (signal.aborted) {
      record(recalled.facts.flatMap(tooLate))
      return null
    }
    record(recalled.facts)
    for (const seq of recalled.seqs) given.add(seq)
    remember(recalled.seqs)
    return delimit(innerLabels.memories, recalled.text)
  }
  function record(facts: readonly NewEvent[]): void {
    if (facts.length === 0) return
    queue
      .append(facts)
      .catch((error: unknown) => options.onFault(error, 'could not record what a call recalled'))
  }

  /** Quotes messages that arrived on other channels since the last look, as all share one conversation. */
  async function saidElsewhere(): Promise<string | null> {
    const items = await readChain()
    const fresh = items.filter(({ seqs }) => seqs.every((seq) => !known.has(seq)))
    const seqs = fresh.flatMap((item) => item.seqs)
    // Marked before the next await, so that concurrent cues do not repeat them.
    for (const seq of seqs) {
      known.add(seq)
      given.add(seq)
    }
    const events = ledger.readSeqs(seqs)
    const own = new Set(events.filter((event) => event.spanId === spanId).map(({ seq }) => seq))
    const lines = fresh.flatMap(({ item, seqs }) => {
      if (item.type !== 'message' || seqs.some((seq) => own.has(seq))) return []
      remember(seqs)
      return [`${item.role}: ${item.text}`]
    })
    return lines.length === 0 ? null : delimit(innerLabels.elsewhere, lines.join('\n'))
  }

  async function plan(signal: AbortSignal): Promise<SessionPlan> {
    await queue.settled()
    const items = await readChain()
    for (const { seqs } of items) for (const seq of seqs) known.add(seq)
    const { history, seqs, isWhole } = recentHistory(items, delimit)
    given = new Set(seqs)
    lastCue = ''
    const capsule = isWhole ? null : options.capsuleText(conversationId)
    const first = items[0]
    const base = isWhole || first?.item.type !== 'inner' ? null : historyItem(first.item, delimit)
    const topic = history
      .filter(({ role }) => role !== 'inner')
      .slice(-TOPIC_ITEMS)
      .map(({ text }) => text)
      .join('\n')
    const memories = await within(OPENING_RECALL_MS, signal, (limit) => surface(topic, limit))
    return {
      instructions: options.instructions(),
      history: [
        ...(capsule === null
          ? base
            ? [base]
            : []
          : [{ role: 'inner' as const, text: delimit('the conversation until now, summarised', capsule) }]),
        ...history,
        ...(memories === null ? [] : [{ role: 'inner' as const, text: memories }]),
      ],
      tools: [...tools.values()].map(voiceTool),
      ...options.voice(),
    }
  }

  async function runTool(
    call: { readonly callId: string; readonly name: string; readonly arguments: string },
    signal: AbortSignal,
  ): Promise<string> {
    const place = envelope()
    const { turnId } = place
    const messageSeq = await words.seq(signal)
    const appended = await queue.appendLater(() => {
      // The call may have ended meanwhile.
      signal.throwIfAborted()
      return [
        ...turns.opening(turnId, messageSeq),
        {
          type: 'tool.called',
          actor: 'delegate',
          ...place,
          key: `tool-called:${turnId}:${call.callId}`,
          ...(messageSeq === null ? {} : { causedBy: messageSeq }),
          derivedFrom: derivation(call.arguments, messageSeq),
          facts: {
            callId: call.callId,
            tool: call.name,
            round: 1,
            idempotent: runner.isIdempotent(call.name),
          },
          body: { arguments: call.arguments },
        },
      ]
    })
    const called = appended.status === 'appended' ? appended.events.at(-1) : undefined
    if (!called) throw new Error('the model used the id of a call twice')
    const { callId, name: tool } = call
    if (tally.turnId !== turnId) tally = { turnId, changes: 0, texts: 0 }
    const { why } = options
    const { seq, erased } = called
    const right = options.keypad.right()
    const [outcome] = await runner.run([{ callId, tool, arguments: call.arguments, seq, erased }], {
      ...{ ...place, messageSeq, timezone: options.timezone(), nowMs: nowMs(), signal, why, tally, right },
    })
    if (!outcome) throw new Error('the tool has no outcome')
    remember([seq, outcome.seq])
    options.keypad.offer()
    return outcome.output
  }

  return {
    plan,
    async recall({ text }, signal) {
      if (text === null) words.begun()
      const elsewhere = await saidElsewhere()
      const cue = text ?? saidLast.join('\n')
      const memories = await surface(cue, signal)
      const parts = [elsewhere, memories].filter((part) => part !== null)
      return parts.length === 0 ? null : parts.join('\n\n')
    },
    runTool(call, signal) {
      const ended = turns.toolStarted()
      return tooling(() => runTool(call, signal)).finally(ended)
    },
    responded: (response) => turns.responded(response),
    place: (fact) => placed(fact),
    recorded(events) {
      for (const event of events) noteRecorded(event)
    },
    end: () => turns.end(),
  }

  function placed(fact: CallFact): NewEvent {
    // A phrase derives from nothing.
    if (fact.type !== 'call.reply.spoken' || fact.facts.responseId === null)
      return { ...fact, conversationId, spanId }
    const causedBy = sources.findLast((seq) => utterances.has(seq)) ?? null
    return {
      ...fact,
      conversationId,
      spanId,
      turnId: turns.turnOf(fact.facts.responseId),
      ...(causedBy === null ? {} : { causedBy }),
      derivedFrom: derivation(fact.body.generatedText, causedBy),
    }
  }
  function noteRecorded(event: LedgerEvent): void {
    if (event.type !== 'call.utterance.heard' && event.type !== 'call.reply.spoken') return
    known.add(event.seq)
    given.add(event.seq)
    remember([event.seq])
    if (event.body?.text) saidLast = [...saidLast, event.body.text].slice(-TOPIC_WORDS)
    if (event.type !== 'call.utterance.heard') return
    utterances.add(event.seq)
    words.recorded(event.seq)
  }
}

/** The realtime service has no strict mode, so the schema is sent unchanged. */
function voiceTool({ name, description, parameters }: Tool): VoiceTool {
  const { $schema: _, ...schema } = z.toJSONSchema(parameters, { target: 'draft-7', io: 'input' })
  return { name, description, parameters: schema }
}

/** Marks memories that surfaced after the time limit as suppressed. */
function tooLate(fact: NewEvent): NewEvent[] {
  if (fact.type !== 'memory.recalled') return []
  const { conversationId, spanId, turnId } = fact
  const { injectedTokens: _tokens, durationMs: _duration, late: _late, ...what } = fact.facts
  return [
    {
      type: 'memory.recall.suppressed',
      actor: 'service',
      channel: 'inner',
      conversationId,
      spanId,
      turnId,
      facts: { ...what, reason: 'expired', late: true },
    },
  ]
}

/** Finds the fact of the caller's latest words, which is recorded with a delay. */
function createLatestWords() {
  let latest: number | null = null
  let pending: PromiseWithResolvers<null> | null = null
  return {
    /** The caller began to speak. */
    begun() {
      pending ??= Promise.withResolvers()
    },
    recorded(seq: number) {
      latest = seq
      pending?.resolve(null)
      pending = null
    },
    /** Null if there are no words, or they take too long to be recorded. */
    async seq(signal: AbortSignal): Promise<number | null> {
      const waiting = pending?.promise
      if (waiting) await within(RECORDED_WITHIN_MS, signal, () => waiting)
      return pending ? null : latest
    },
  }
}

/** Resolves with the result of `work`, or null if it takes longer than `ms`. */
async function within<T>(
  ms: number,
  signal: AbortSignal,
  work: (limit: AbortSignal) => Promise<T | null>,
): Promise<T | null> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(ms)])
  const expired = new Promise<null>((resolve) => {
    limit.addEventListener('abort', () => resolve(null), { once: true })
    if (limit.aborted) resolve(null)
  })
  return Promise.race([work(limit), expired])
}
