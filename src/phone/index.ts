import { randomBytes } from 'node:crypto'
import type { NewEvent } from '../../ledger/event.ts'
import { createCallQueries } from '../../projections/calls.ts'
import { createContextQueries } from '../../projections/context.ts'
import { createTurnQueries } from '../../projections/turns.ts'
import type { Log } from '../lib/log.ts'
import type { Recall } from '../lib/recall.ts'
import { formatLocal } from '../lib/time.ts'
import { createDataBlocks, withDataBlockRule } from '../model/openai/data-block.ts'
import type { ModelService, RealtimeEndpoint } from '../model/port.ts'
import type { Tool } from '../model/tool.ts'
import { isWithheld } from '../settings/party.ts'
import type { Settings } from '../settings/settings.ts'
import type { Placement } from '../storage/placement.ts'
import type { Storage } from '../storage/storage.ts'
import { type Bridge, startBridge } from './call/bridge.ts'
import { type CallFact, defaultLimits, type EndReason } from './call/call-state.ts'
import { loadPhrases } from './call/phrases.ts'
import type { CallLine } from './call/ports.ts'
import { callPrompts } from './call/prompts.ts'
import { lineOfFact, type TalkLine } from './call/talk.ts'
import { connectRealtime } from './call/ws-sockets.ts'
import { type CallStatus, createCallStatusRecorder } from './lifecycle/call-status.ts'
import { type CallPlace, createCallTurns } from './lifecycle/call-turns.ts'
import { createFactQueue } from './lifecycle/fact-queue.ts'
import { createGuestMind, GUEST_CALL_MS, GUEST_WORDS } from './lifecycle/guest-mind.ts'
import { createLiveCalls, type LiveCall, type LiveCalls } from './lifecycle/live-calls.ts'
import type { CallChain, PlacedMind } from './lifecycle/mind.ts'
import { createOwnerMind, type OwnerMindOptions } from './lifecycle/owner-mind.ts'
import { createReception, type Reception } from './lifecycle/reception.ts'
import { callEnding, interruptedCall } from './lifecycle/span-facts.ts'
import { createHangUp, type TelephonyApi } from './line/api.ts'
import { createCallSlot, type OfferedCall, RESERVATION_MS } from './line/call-slot.ts'
import { createStreamAcceptor, type StreamSocket } from './line/stream-acceptor.ts'

export type Phone = {
  readonly reception: Reception
  /** Takes a socket that claims to be the media stream of the reserved call. */
  accept(socket: StreamSocket, upgrade: { readonly isSigned: boolean }): void
  /** Takes the provider's report that a call is over. It may repeat, and the call may be unknown. */
  callEnded(callSid: string): void
  /** Records the provider's report on a call. Resolves once it is durable. */
  recordStatus(report: CallStatus): Promise<void>
  /** The call in progress. */
  readonly live: LiveCalls
  /** The model's instructions at the start of a call by the owner. */
  instructions(): string
  /** Ends the call in progress. False if there is none. */
  hangUp(): boolean
  /** Records the end of a call that a crash interrupted. */
  start(): Promise<void>
  /** Hangs up, and waits up to `ms` until every fact is in the ledger. */
  close(graceMs: number): Promise<void>
}

export type PhoneOptions = {
  readonly storage: Storage
  readonly settings: Settings
  readonly model: () => ModelService
  readonly placement: Placement
  readonly recall: Recall
  readonly tools: ReadonlyMap<string, Tool>
  readonly callTools: OwnerMindOptions['callTools']
  readonly chain: CallChain
  readonly sourcesOf: OwnerMindOptions['sourcesOf']
  /** The instructions for a guest who calls. */
  readonly guestInstructions: (options: { ownerIsKnown: boolean }) => string
  readonly instructions: () => string
  /** The standing instructions for the phone. */
  readonly adaptationIds: () => readonly string[]
  /** Whether guests have used up the budget of this number. */
  readonly guestIsSpent: (number: string) => boolean
  /** Whether the daily budgets are exhausted. */
  readonly callsAreSpent: () => boolean
  readonly tokensAreSpent: () => boolean
  /** The events with the words of a guest's number in texts and calls, oldest first. */
  readonly guestWordSeqs: (number: string, limit: number) => readonly number[]
  readonly telephony: TelephonyApi
  /** How long a call's socket may take to present its token. */
  readonly streamStartMs: number | undefined
  readonly newId: () => string
  readonly nowMs: () => number
  readonly log: Log
}

/** An accepted call, from its reservation to its end. */
type Call = {
  readonly offered: OfferedCall
  readonly place: CallPlace
  readonly cancelExpiry: () => void
  readonly offeredAt: string
  live: { readonly bridge: Bridge; readonly mind: PlacedMind; readonly connectedAt: string } | null
  /** Words that are being written to the ledger, by item. */
  readonly unrecorded: Map<string, TalkLine>
}

/** Wires the phone: the webhook's decision, the single slot, the bridge and its mind. */
export async function buildPhone(options: PhoneOptions): Promise<Phone> {
  const { storage, settings, model, chain, newId, nowMs, log } = options
  const { append, ledger, views } = storage
  const phrases = await loadPhrases()
  const callQueries = createCallQueries(views)
  const context = createContextQueries(views)
  const delimit = createDataBlocks(randomBytes(32))
  const slot = createCallSlot({ nowMs: () => performance.now() })
  const onFault = (error: unknown, message: string) => log.error({ err: error }, message)
  const queue = createFactQueue({ append, onFault })
  const calls = new Map<string, Call>()
  const live = createLiveCalls({ read: liveCall })
  const now = () => new Date(nowMs()).toISOString()

  function presentCall(): Call | undefined {
    const callSid = slot.holder()?.call.callSid
    return callSid === undefined ? undefined : calls.get(callSid)
  }

  function liveCall(): LiveCall | null {
    const call = presentCall()
    if (!call) return null
    const { callSid, party, conversationId, spanId } = call.place
    const talk = call.live?.bridge.talk()
    return {
      callSid,
      party,
      from: call.offered.from,
      conversationId,
      spanId,
      offeredAt: call.offeredAt,
      connectedAt: call.live?.connectedAt ?? null,
      speaking: talk?.speaking ?? null,
      lines: [...call.unrecorded.values(), ...(talk?.lines ?? [])],
    }
  }

  function record(facts: readonly NewEvent[]): void {
    queue.append(facts).catch((error: unknown) => onFault(error, 'facts of a call are lost'))
  }

  /** Ends a reservation whose stream never started, or that was cancelled before. */
  function abandon(call: Call, reason: EndReason | 'not_connected'): void {
    if (call.live !== null || !calls.delete(call.offered.callSid)) return
    call.cancelExpiry()
    slot.release(call.offered.callSid)
    live.changed()
    record(callEnding(call.place, reason))
  }

  function end(call: Call, reason: EndReason): void {
    if (call.live) call.live.bridge.hangUp(reason)
    else abandon(call, reason)
  }

  const reception = createReception({
    append,
    placement: options.placement,
    calls: callQueries,
    slot,
    publicUrl: () => settings.get('PUBLIC_URL'),
    hasRealtimeModel: () => model().realtime !== null,
    guestIsSpent: options.guestIsSpent,
    isSpent: () => options.callsAreSpent() || options.tokensAreSpent(),
    newId,
    reserved(offered, place) {
      if (calls.has(offered.callSid)) return
      const cancelExpiry = after(RESERVATION_MS, () => abandon(call, 'not_connected'))
      const call: Call = {
        offered,
        place,
        cancelExpiry,
        offeredAt: now(),
        live: null,
        unrecorded: new Map(),
      }
      calls.set(offered.callSid, call)
      live.changed()
    },
    evicted({ callSid }) {
      const call = calls.get(callSid)
      if (call) end(call, 'owner_calling')
    },
  })

  const acceptor = createStreamAcceptor({
    slot,
    startDeadlineMs: options.streamStartMs,
    after,
    accepted: connect,
    refused: (reason) => log.debug({ reason }, 'a media stream was refused'),
  })

  function connect(offered: OfferedCall, line: CallLine): void {
    const call = calls.get(offered.callSid)
    const { realtime } = model()
    // Without a session nobody would answer: the markup after the stream says so.
    if (!call || realtime === null) {
      line.close()
      if (call) abandon(call, 'no_realtime_model')
      return
    }
    call.cancelExpiry()
    const { place } = call
    const mind = place.conversationId === null ? guestMind(call) : ownerMind(call, place.conversationId)
    const limits = { ...defaultLimits, maxCallMs: place.party === 'guest' ? GUEST_CALL_MS : null }
    const bridge = startBridge({
      call: {
        callSid: place.callSid,
        streamSid: line.streamSid,
        party: place.party,
        ...callPrompts,
        delimit,
        phrases,
        limits,
      },
      line,
      connect: connectRealtime(realtime),
      mind,
      record: (facts) => {
        for (const fact of facts) recordOne(call, mind, fact)
      },
      hangUp: createHangUp(options.telephony),
      clock: {
        nowMs: () => performance.now(),
        epochMs: nowMs,
        every(intervalMs, fn) {
          const timer = setInterval(fn, intervalMs)
          return () => clearInterval(timer)
        },
      },
      log: (message, detail) => log.warn({ callSid: place.callSid, detail }, message),
      changed: live.changed,
      ended() {
        calls.delete(place.callSid)
        slot.release(place.callSid)
        live.changed()
      },
    })
    call.live = { bridge, mind, connectedAt: now() }
    live.changed()
  }

  /** Composes each fact only when its turn comes, because a reply derives from words recorded just before it. */
  function recordOne({ place, unrecorded }: Call, mind: PlacedMind, fact: CallFact): void {
    if (fact.type === 'call.ended') mind.end()
    const line = lineOfFact(fact)
    if (line) unrecorded.set(line.itemId, line)
    queue
      .appendLater(() =>
        fact.type === 'call.ended' ? callEnding(place, fact.facts.reason, fact) : [mind.place(fact)],
      )
      .then((appended) => mind.recorded(appended.status === 'appended' ? appended.events : []))
      .catch((error: unknown) => onFault(error, 'facts of a call are lost'))
      .finally(() => {
        if (line && unrecorded.delete(line.itemId)) live.changed()
      })
  }

  function turnsOf(place: CallPlace) {
    const { conversationId } = place
    const { text, realtime } = model()
    return createCallTurns({
      place,
      model: { provider: text.id.provider, model: modelName(realtime) },
      append: queue.append,
      newId,
      nowMs,
      adaptationIds: place.party === 'owner' ? options.adaptationIds() : [],
      contextTokens: () =>
        conversationId === null ? 0 : (context.chain(conversationId)?.contextTokens ?? 0),
      onFault: (error) => onFault(error, 'a turn of a call is not recorded'),
    })
  }

  const voice = () => ({
    voice: settings.get('REALTIME_VOICE'),
    transcriptionModel: settings.get('TRANSCRIPTION_MODEL'),
  })

  function ownerMind({ place, offered }: Call, conversationId: string): PlacedMind {
    return createOwnerMind({
      place,
      conversationId,
      turns: turnsOf(place),
      queue,
      ledger,
      chain,
      capsuleText(id) {
        const row = context.capsule(id)
        const [event] = row && !chain.derivesFromBarred(row.seq) ? ledger.readSeqs([row.seq]) : []
        return event?.type === 'context.capsule.written' ? (event.body?.text ?? null) : null
      },
      recall: options.recall,
      tools: options.tools,
      callTools: options.callTools,
      sourcesOf: options.sourcesOf,
      from: offered.from,
      instructions: ownerInstructions,
      voice,
      delimit,
      timezone: () => settings.get('TIMEZONE'),
      nowMs,
      onFault,
    })
  }

  function guestMind({ place, offered }: Call): PlacedMind {
    return createGuestMind({
      place,
      turns: turnsOf(place),
      queue,
      ledger,
      wordSeqs: () =>
        isWithheld(offered.from)
          ? callQueries.wordSeqs(place.callSid, GUEST_WORDS)
          : options.guestWordSeqs(offered.from, GUEST_WORDS),
      instructions: () =>
        options.guestInstructions({ ownerIsKnown: settings.get('OWNER_PHONE_NUMBER') !== null }),
      voice,
      onTool: (name) => log.warn({ tool: name, callSid: place.callSid }, "a guest's call asked for a tool"),
    })
  }

  function ownerInstructions(): string {
    return `${withDataBlockRule(options.instructions())}\n\n${present()}`
  }

  /** A session has no clock. */
  function present(): string {
    const timezone = settings.get('TIMEZONE')
    return `The call began ${formatLocal(nowMs(), timezone)} (${timezone}).`
  }

  return {
    reception,
    live,
    recordStatus: createCallStatusRecorder({ append, calls: callQueries }),
    accept: acceptor.accept,
    instructions: ownerInstructions,
    callEnded(callSid) {
      const call = calls.get(callSid)
      if (call?.live) call.live.bridge.lineEnded()
      else if (call) abandon(call, 'caller_hung_up')
    },
    hangUp() {
      const call = presentCall()
      if (!call) return false
      end(call, 'owner_hung_up')
      return true
    },
    async start() {
      const turns = createTurnQueries(views).unfinished()
      const facts = callQueries.open().flatMap((row) => interruptedCall(row, turns))
      if (facts.length > 0) await append(facts)
    },
    async close(graceMs) {
      for (const call of [...calls.values()]) end(call, 'service_stopping')
      const grace = setTimeout(queue.giveUp, graceMs)
      await queue.settled()
      clearTimeout(grace)
    },
  }
}

function modelName(realtime: RealtimeEndpoint | null): string {
  return realtime?.model ?? 'none'
}

/** Runs `fn` once after a delay, unless cancelled. */
function after(ms: number, fn: () => void): () => void {
  const timer = setTimeout(fn, ms)
  timer.unref()
  return () => clearTimeout(timer)
}
