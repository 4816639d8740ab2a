import { randomBytes } from 'node:crypto'
import type { NewEvent } from '../../ledger/event.ts'
import { createCallQueries } from '../../projections/calls.ts'
import { createTurnQueries } from '../../projections/turns.ts'
import type { Language } from '../language/languages.ts'
import { createDataBlocks } from '../model/openai/data-block.ts'
import { AllowanceSpent, type ChatModel, type Use } from '../model/port.ts'
import type { Placement } from '../storage/placement.ts'
import { isSpokenHalt } from '../text/halt-word.ts'
import { createTalks } from './browser/talks.ts'
import { type Bridge, startBridge } from './call/bridge.ts'
import { type CallFact, defaultLimits, type EndReason } from './call/call-state.ts'
import { browserPhrases, loadPhrases, type Phrases, wordPhrases } from './call/phrases.ts'
import type { CallLine } from './call/ports.ts'
import { callPrompts } from './call/prompts.ts'
import { lineOfFact, type TalkLine } from './call/talk.ts'
import { type CallMoney, createCarriages } from './carriages.ts'
import { connectModel, spokenLimits } from './connect-model.ts'
import { createCallStatusRecorder } from './lifecycle/call-status.ts'
import type { CallPlace } from './lifecycle/call-turns.ts'
import { createFactQueue } from './lifecycle/fact-queue.ts'
import { GUEST_CALL_MS } from './lifecycle/guest-mind.ts'
import { type CallProposals, createKeypad, type Keypad } from './lifecycle/keypad.ts'
import { createLiveCalls, type LiveCall } from './lifecycle/live-calls.ts'
import type { PlacedMind } from './lifecycle/mind.ts'
import { createMinds, type MindOptions } from './lifecycle/minds.ts'
import { createReception } from './lifecycle/reception.ts'
import { attestationOf, callEnding, interruptedCall } from './lifecycle/span-facts.ts'
import { createHangUp, type TelephonyApi } from './line/api.ts'
import { createCallSlot, isTalk, type OfferedCall, providerSidOf, RESERVATION_MS } from './line/call-slot.ts'
import { createStreamAcceptor } from './line/stream-acceptor.ts'
import { type Comeback, createRelays } from './relay/relays.ts'
import type { FitCall } from './spoken/session.ts'

export type PhoneOptions = MindOptions & {
  readonly placement: Placement
  /** Whether guests have used up the budget of this number. */
  readonly guestIsSpent: (number: string) => boolean
  /** Whether the daily budgets are exhausted. */
  readonly callsAreSpent: () => boolean
  readonly tokensAreSpent: () => boolean
  readonly isHalted: () => boolean
  /** Whether a halt waits to be recorded. */
  readonly isHaltPending: () => boolean
  /** Keeps a request of a call within the context of the model that answers. */
  readonly fitCall: (model: ChatModel, request: Parameters<FitCall>[0]) => ReturnType<FitCall>
  readonly halt: (by: 'voice') => Promise<void>
  /** Pays the minutes of calls. */
  readonly callMoney: CallMoney
  readonly pinsAreSpent: () => boolean
  readonly proposals: CallProposals
  readonly telephony: TelephonyApi
  /** Of what a call says by itself. */
  readonly language: () => Language
  /** How long a call's socket may take to present its token. */
  readonly streamStartMs: number | undefined
}

/** An accepted call, from its reservation to its end. */
type Call = {
  readonly offered: OfferedCall
  readonly place: CallPlace
  readonly expiry: NodeJS.Timeout
  readonly offeredAt: string
  live: { readonly bridge: Bridge; readonly mind: PlacedMind; readonly connectedAt: string } | null
  /** Words that are being written to the ledger, by item. */
  readonly unrecorded: Map<string, TalkLine>
}

const LOOK_FOR_HALT_MS = 1_000

export type Phone = Awaited<ReturnType<typeof buildPhone>>

/** Wires calls and talks in the browser: who is admitted, the single slot, the bridge and its mind. */
export async function buildPhone(options: PhoneOptions) {
  const { storage, settings, model, isHalted, newId, nowMs, log } = options
  const { append, views } = storage
  const en = await loadPhrases()
  const recorded: Readonly<Record<Language, Phrases>> = { en, 'en-XA': en, de: await loadPhrases('de') }
  const inBrowser: Partial<Record<Language, Phrases>> = {}
  function phrasesOn(call: OfferedCall, { medium }: CallLine): Phrases {
    const language = options.language()
    if (!medium.isAudio) return wordPhrases(language)
    if (!isTalk(call)) return recorded[language]
    inBrowser[language] ??= browserPhrases(language, recorded[language])
    return inBrowser[language]
  }
  const callQueries = createCallQueries(views)
  const delimit = createDataBlocks(randomBytes(32))
  const slot = createCallSlot({ nowMs: () => performance.now() })
  const onFault = (error: unknown, message: string) => log.error({ err: error }, message)
  const queue = createFactQueue({ append, onFault })
  const minds = createMinds({ ...options, queue, delimit, onFault })
  const calls = new Map<string, Call>()
  const live = createLiveCalls({ read: liveCall })
  const warnOf = (callSid: string) => (message: string, detail: string) =>
    log.warn({ callSid, detail }, message)
  const now = () => new Date(nowMs()).toISOString()

  const purposeOf = (party: CallPlace['party']) => (party === 'guest' ? 'guest' : 'call')
  const hasAccount = () => options.telephony.credentials() !== null
  const carriages = createCarriages({ model, settings, hasAccount })

  /** `callSid` is the provider's. */
  function callOf(callSid: string): Call | undefined {
    return [...calls.values()].find(({ offered }) => providerSidOf(offered.callSid) === callSid)
  }

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
      inBrowser: isTalk(call.offered),
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
    clearTimeout(call.expiry)
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
    carriage: () => carriages.ofPhone().by,
    guestIsSpent: options.guestIsSpent,
    isHalted,
    isRecorded: (key) => storage.ledger.rowByKey(key) !== undefined,
    isSpent: (call) =>
      options.callsAreSpent() ||
      options.tokensAreSpent() ||
      options.callMoney.isSpent(purposeOf(call.party), carriages.modelsOf(call)),
    newId,
    reserved(offered, place) {
      if (calls.has(offered.callSid)) return
      const expiry = setTimeout(() => abandon(call, 'not_connected'), RESERVATION_MS).unref()
      const call: Call = {
        offered,
        place,
        expiry,
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
    accepted: connect,
    refused: (reason) => log.debug({ reason }, 'a media stream was refused'),
  })

  const relays = createRelays({
    slot,
    startDeadlineMs: options.streamStartMs,
    connect,
    offer: reception.offer,
    publicUrl: () => settings.get('PUBLIC_URL'),
    refused: (reason) => log.debug({ reason }, 'a relay was refused'),
    attestationOf: (call) => attestationOf(storage.ledger, call),
    logOf: warnOf,
    nowMs: () => performance.now(),
  })

  function connect(offered: OfferedCall, line: CallLine): void {
    const call = calls.get(offered.callSid)
    // A relay that comes back continues the call without this.
    if (call?.live) {
      line.close()
      return
    }
    // The settings may have changed since the markup.
    const carriage = carriages.on(offered, line)
    // Without a session nobody would answer: the markup after the stream says so.
    if (!call || carriage.by === 'nothing' || isHalted()) {
      line.close()
      if (call) abandon(call, carriage.by === 'nothing' ? 'no_realtime_model' : 'halted')
      relays.forget(offered.callSid)
      return
    }
    clearTimeout(call.expiry)
    const { place } = call
    const { party, conversationId, spanId } = place
    const use: Use = { purpose: purposeOf(party), channel: 'voice', conversationId, spanId }
    const money = options.callMoney.start(use, carriages.modelsOf(offered, carriage), () => bridge.leave())
    const keypad = keypadOf(call)
    const mind = minds.of(place, call.offered.from, keypad, carriage)
    const limits = {
      ...defaultLimits,
      ...(carriage.by === 'speech' ? spokenLimits : {}),
      maxCallMs: party === 'guest' ? GUEST_CALL_MS : null,
    }
    const warn = warnOf(place.callSid)
    const bridge = startBridge({
      call: {
        callSid: place.callSid,
        streamSid: line.streamSid,
        medium: line.medium,
        party: place.party,
        ...callPrompts,
        delimit,
        phrases: phrasesOn(offered, line),
        limits,
      },
      line,
      connect: connectModel(carriage, {
        ...{ party, use, delimit, nowMs },
        codec: line.medium.codec,
        text: () => model().text,
        toolOf: (name) => options.tools.get(name),
        fit: (request) => options.fitCall(model(), request),
        timezone: () => settings.get('TIMEZONE'),
        language: options.language(),
        failed(error) {
          if (error instanceof AllowanceSpent) bridge.leave()
          else warn('a model failed during a call', String(error))
        },
      }),
      mind: {
        ...mind,
        responded(response) {
          money.responded(response.usage, response.audio)
          mind.responded(response)
        },
      },
      record: (facts) => {
        for (const fact of facts) recordOne(call, mind, fact)
      },
      // Closing the line is all that a browser needs.
      hangUp: isTalk(offered) ? async () => undefined : createHangUp(options.telephony),
      pressed: (key) => keypad?.press(key),
      epochMs: nowMs,
      log: warn,
      changed: live.changed,
      ended() {
        money.end()
        calls.delete(place.callSid)
        relays.forget(place.callSid)
        slot.release(place.callSid)
        live.changed()
      },
    })
    call.live = { bridge, mind, connectedAt: now() }
    live.changed()
  }

  /** Null for a guest, whom no PIN lifts. */
  function keypadOf(call: Call): Keypad | null {
    const { conversationId, ...place } = call.place
    if (conversationId === null) return null
    return createKeypad({
      place: { ...place, conversationId },
      attestation: call.offered.attestation,
      settings,
      proposals: options.proposals,
      append: queue.append,
      pinsAreSpent: options.pinsAreSpent,
      tell: (text, how) => call.live?.bridge.tell(text, how),
      onFault,
      nowMs: () => performance.now(),
    })
  }

  /** Composes each fact only when its turn comes, because a reply derives from words recorded just before it. */
  function recordOne({ place, unrecorded }: Call, mind: PlacedMind, fact: CallFact): void {
    if (fact.type === 'call.ended') mind.end()
    if (isHaltAsked(place.party, fact))
      options.halt('voice').catch((error: unknown) => onFault(error, 'a halt could not be recorded'))
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

  /** A halt ends every call, however it was requested. */
  const endHalted = () => {
    for (const call of [...calls.values()]) end(call, 'halted')
  }
  let unsubscribe: () => void = () => undefined
  let looking: NodeJS.Timeout | undefined

  const talks = createTalks({
    ...{ reception, slot, carriage: carriages.ofBrowser, connect, newId },
    nowMs: () => performance.now(),
  })

  return {
    reception,
    /** Begins a talk of the signed-in owner in the browser, or says why not. */
    talk: talks.begin,
    /** How a talk in the browser would be carried. */
    talkCarriage: () => carriages.ofBrowser().by,
    /** The call in progress. */
    live,
    /** Records the provider's report on a call. Resolves once it is durable. */
    recordStatus: createCallStatusRecorder({ append, calls: callQueries, log }),
    /** Takes a socket that claims to be the media stream of the reserved call. */
    accept: acceptor.accept,
    /** Takes a socket that claims to be the relay of the reserved call. */
    acceptRelay: relays.accept,
    /** Decides on a call whose relay broke while the caller is still on the line. Null if it may not come back. */
    async resume(offered: OfferedCall, sessionId: string): Promise<Comeback | null> {
      const offer = await relays.resume(offered, sessionId)
      const call = offer === null ? callOf(offered.callSid) : undefined
      // Nothing will connect it any more.
      if (call) abandon(call, 'not_connected')
      return offer
    },
    /** The model's instructions at the start of a call by the owner. */
    instructions: () => minds.ownerInstructions({ isRealtime: true }),
    /** Takes the provider's report that a call or its stream is over. It may repeat, and the call may be unknown. */
    callEnded(callSid: string, how: 'hungUp' | 'streamFailed'): void {
      const call = callOf(callSid)
      if (call?.live) call.live.bridge.lineEnded(how === 'hungUp' ? 'caller_hung_up' : 'line_lost')
      else if (call) abandon(call, how === 'hungUp' ? 'caller_hung_up' : 'not_connected')
    },
    /** Ends the call in progress. False if there is none. */
    hangUp(): boolean {
      const call = presentCall()
      if (!call) return false
      end(call, 'owner_hung_up')
      return true
    },
    /** Records the end of a call that a crash interrupted. */
    async start(): Promise<void> {
      const turns = createTurnQueries(views).unfinished()
      const open = callQueries.open()
      relays.wereInterrupted(open)
      const facts = open.flatMap((row) => interruptedCall(row, turns))
      if (facts.length > 0) await append(facts)
      unsubscribe = storage.onHeadMoved(() => isHalted() && endHalted(), ['delegation'])
      // The fact of a halt may have to wait, for example while the disk is full.
      looking = setInterval(() => options.isHaltPending() && endHalted(), LOOK_FOR_HALT_MS).unref()
    },
    /** Hangs up, and waits up to `graceMs` until every fact is in the ledger. */
    async close(graceMs: number): Promise<void> {
      unsubscribe()
      clearInterval(looking)
      for (const call of [...calls.values()]) end(call, 'service_stopping')
      const grace = setTimeout(queue.giveUp, graceMs)
      await queue.settled()
      clearTimeout(grace)
    },
  }
}

/** Whether the owner said nothing but the keyword. A guest may say it too. */
function isHaltAsked(party: CallPlace['party'], fact: CallFact): boolean {
  return party === 'owner' && fact.type === 'call.utterance.heard' && isSpokenHalt(fact.body.text)
}
