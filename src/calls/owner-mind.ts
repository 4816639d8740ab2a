import * as z from 'zod'
import type { LedgerEvent, NewEvent } from '../../ledger/event.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import type { Chain, ChainReader } from '../agent/chain.ts'
import type { ContextItem } from '../agent/context.ts'
import { createProvenance } from '../agent/provenance.ts'
import { createToolRunner, type Propose, type Tally } from '../agent/tool-runner.ts'
import type { Recall } from '../conversation/recall.ts'
import type { Tool } from '../tools/tool.ts'
import type { CallFact } from '../voice/call-state.ts'
import type { SessionPlan, VoiceTool } from '../voice/ports.ts'
import type { CallPlace, CallTurns } from './call-turns.ts'
import type { FactQueue } from './fact-queue.ts'
import { type Delimit, historyItem, recentHistory } from './history.ts'
import { createLatestWords } from './latest-words.ts'
import type { PlacedMind, VoiceSettings } from './mind.ts'

/** What memories may cost a session before its first words. */
const OPENING_RECALL_MS = 400
/** Facts of this call whose words a reply may repeat: the newest are enough. */
const SOURCES = 60
/** Words of the past that a cue without words of its own goes by. */
const TOPIC_ITEMS = 4
/** The same in the course of a call: what the caller may be about to go on with. */
const TOPIC_WORDS = 2

export type OwnerMindOptions = {
  readonly place: CallPlace
  readonly turns: CallTurns
  readonly queue: FactQueue
  readonly ledger: LedgerReader
  readonly chain: ChainReader
  /** The newest capsule of a conversation, for a chain that is too long to be told whole. */
  readonly capsuleText: (conversationId: string) => string | null
  readonly recall: Recall
  readonly tools: ReadonlyMap<string, Tool>
  readonly propose: Propose
  readonly areForeign: (seqs: readonly number[]) => boolean
  /** The number that the call claims to come from. */
  readonly from: string
  readonly instructions: () => string
  readonly voice: VoiceSettings
  readonly delimit: Delimit
  readonly timezone: () => string
  readonly nowMs: () => number
  readonly onFault: (error: unknown, message: string) => void
}

/** No model that could take a replacement's opaque form: a session is told everything in words. */
const NO_MODEL = { provider: 'none', model: 'none' }

/** The delegate as it is in chat, on the phone: the same chain, memories, tools and facts. */
export function createOwnerMind(options: OwnerMindOptions & { readonly conversationId: string }): PlacedMind {
  const { place, turns, queue, ledger, chain, tools, delimit, nowMs, conversationId } = options
  const { spanId, offeredSeq } = place
  const words = createLatestWords()
  const provenance = createProvenance()
  /** The conversation as it was last read. */
  let past: readonly ContextItem[] = []
  const runner = createToolRunner({
    append: queue.append,
    tools,
    propose: options.propose,
    areForeign: options.areForeign,
    nowMs,
    onFault: (error, tool) => options.onFault(error, `the tool ${tool} failed in a call`),
  })
  /** Facts of the conversation that were there when a session was begun, or told since: what is not among them is news. */
  const known = new Set<number>()
  /** What the present session has been given, so that nothing surfaces twice in it; the next one has none of it. */
  let given = new Set<number>()
  /** Facts of this call and memories that surfaced in it: what a reply may repeat. */
  let sources: number[] = []
  const utterances = new Set<number>()
  /** What was said last in this call, by whom ever. */
  let saidLast: readonly string[] = []
  let lastCue = ''
  /** What was barred when this call first looked at the past. */
  let first: Pick<Chain, 'barred'> | null = null
  /** What the present turn has changed. */
  let tally: Tally & { readonly turnId: string } = { turnId: '', changes: 0, texts: 0 }
  let tooling: Promise<unknown> = Promise.resolve()

  const envelope = () => ({ conversationId, spanId, turnId: turns.currentId(), channel: 'voice' as const })
  const remember = (seqs: readonly number[]) => {
    sources = [...new Set([...sources, ...seqs])].slice(-SOURCES)
  }
  const derivation = (text: string, causedBy: number | null) => {
    // A session cannot be made to forget: what of it was forgotten since is a source, and its repetition goes with it.
    const seqs = new Set([...sources, ...(first === null ? [] : chain.barredSince(first))])
    const own = ledger.readSeqs([...seqs].sort((a, b) => a - b))
    const telling = provenance.sourcesOf(text, own, past)
    return [...new Set([...(causedBy === null ? [] : [causedBy]), ...telling])].sort((a, b) => a - b)
  }
  const readChain = async () => {
    const read = await chain.read(conversationId, NO_MODEL, { textOnly: true })
    first ??= { barred: read.barred }
    past = read.items
    return read.items
  }

  /** Looks for memories and tells of them; null where nothing new surfaces or the time is up. */
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
    return delimit('memories that may matter', recalled.text)
  }
  function record(facts: readonly NewEvent[]): void {
    if (facts.length === 0) return
    queue
      .append(facts)
      .catch((error: unknown) => options.onFault(error, 'what a call recalled is not recorded'))
  }

  /** Quotes what was said in chat since the last look: chat and call are one conversation. */
  async function saidElsewhere(): Promise<string | null> {
    const items = await readChain()
    const fresh = items.filter(({ seqs }) => seqs.every((seq) => !known.has(seq)))
    const seqs = fresh.flatMap((item) => item.seqs)
    // Before anything else may ask: it is told once.
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
    return lines.length === 0 ? null : delimit('said in the browser or by text meanwhile', lines.join('\n'))
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
      // The call and its turn have ended: nothing begins in them any more.
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
    const why = `Asked for on the phone, in a call from ${options.from}.`
    const { outputs, recorded } = await runner.run(
      [{ callId, tool, arguments: call.arguments }],
      Promise.resolve([called]),
      { ...place, messageSeq, timezone: options.timezone(), nowMs: nowMs(), signal, why, tally },
    )
    const [outcome] = outputs
    if (!outcome) throw new Error('the tool has no outcome')
    remember([called.seq, ...(await recorded)])
    return outcome.output
  }

  return {
    plan,
    async recall({ text }, signal) {
      if (text === null) words.begun()
      const elsewhere = await saidElsewhere()
      const cue = text ?? saidLast.join('\n')
      const memories = await surface(cue, signal)
      const told = [elsewhere, memories].filter((part) => part !== null)
      return told.length === 0 ? null : told.join('\n\n')
    },
    runTool(call, signal) {
      const ended = turns.toolStarted()
      const result = tooling.then(() => runTool(call, signal)).finally(ended)
      tooling = result.catch(() => undefined)
      return result
    },
    responded: (response) => turns.responded(response),
    place: (fact) => placed(fact),
    recorded(events) {
      for (const event of events) noteRecorded(event)
    },
    end: () => turns.end(),
  }

  function placed(fact: CallFact): NewEvent {
    if (fact.type !== 'call.reply.spoken') return { ...fact, conversationId, spanId }
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

/** As the realtime service is told of it: it has no strict mode, so the schema goes as it is. */
function voiceTool({ name, description, parameters }: Tool): VoiceTool {
  const { $schema: _, ...schema } = z.toJSONSchema(parameters, { target: 'draft-7', io: 'input' })
  return { name, description, parameters: schema }
}

/** What surfaced when the words that called for it were long answered. */
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

/** Runs `work` for at most so long; null where it takes longer. */
async function within<T>(
  ms: number,
  signal: AbortSignal,
  work: (limit: AbortSignal) => Promise<T | null>,
): Promise<T | null> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(ms)])
  const expired = new Promise<null>((resolve) => {
    limit.addEventListener('abort', () => resolve(null), { once: true })
  })
  return Promise.race([work(limit), expired])
}
