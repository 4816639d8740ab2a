import { createAwakeClock } from '../../lib/waits.ts'
import type { CallAction, CallEvent, CallOptions, EndReason } from './call-state.ts'
import { createCallerAudio } from './caller-audio.ts'
import { createLineOutbox } from './line-outbox.ts'
import { type ModelSession, openModelSession } from './model-session.ts'
import type { CallLine, CallLog, CallMind, ConnectModel, HangUp, RecordFacts } from './ports.ts'
import type { ServerEvent } from './realtime-protocol.ts'
import { talkOf } from './talk.ts'
import { begin, step } from './turn-taking.ts'

/** How often deadlines are checked. Audio does not wait for it. */
const TICK_MS = 250
/** Caps the time a stalled process counts as silence: audio may be waiting in the sockets meanwhile. */
const MAX_STEP_MS = 2 * TICK_MS
/** Later memories no longer help with the words that prompted them. */
const RECALL_BUDGET_MS = 1_500

type Untimed<E> = E extends CallEvent ? Omit<E, 'atMs'> : never

export type BridgeOptions = {
  readonly call: CallOptions
  readonly line: CallLine
  readonly connect: ConnectModel
  readonly mind: CallMind
  readonly record: RecordFacts
  readonly hangUp: HangUp
  /** Wall time. */
  readonly epochMs: () => number
  readonly log: CallLog
  /** The caller pressed a key. Keys reach nothing else, so that digits of a PIN are kept nowhere. */
  readonly pressed: (key: string) => void
  /** Called after every step. Called often, so it must return at once. */
  readonly changed: () => void
  /** The call is over. Called exactly once and synchronously, so that the slot is free afterwards. */
  readonly ended: () => void
}

export type Bridge = ReturnType<typeof startBridge>

/**
 * Connects a caller's line with the realtime model. Passes events to the turn-taking machine and performs its
 * actions on the two sockets; it makes no decisions of its own. Audio passes through untouched, except for tones of
 * keys, and waits only for a full socket.
 */
export function startBridge(options: BridgeOptions) {
  const { line, mind, log } = options
  const nowMs = createAwakeClock(() => performance.now(), MAX_STEP_MS)
  const over = new AbortController()
  const sessions = new Map<number, ModelSession>()
  const audio = createCallerAudio(options.call.medium)
  const outbox = createLineOutbox(line, () => give({ type: 'hangup.requested', reason: 'backpressure' }))
  let adopted: ModelSession | null = null
  const first = begin(options.call, nowMs())
  let state = first.state
  const inbox: CallEvent[] = []
  let busy = true

  /** Handles one event at a time. An event caused by an action waits until the current step is done. */
  const give = (event: Untimed<CallEvent>) => {
    inbox.push({ ...event, atMs: nowMs() })
    if (busy) return
    busy = true
    work()
  }
  const work = () => {
    for (let event = inbox.shift(); event; event = inbox.shift()) {
      const result = step(state, event)
      state = result.state
      performAll(result.actions)
    }
    busy = false
    options.changed()
  }
  /** Performs every action, even after one of them fails. */
  const performAll = (actions: readonly CallAction[]) => {
    for (const action of actions) {
      try {
        ;(performers[action.type] as (action: CallAction) => unknown)(action)
      } catch (error) {
        log(`call action ${action.type} failed`, String(error))
      }
    }
  }

  const performers: {
    readonly [T in CallAction['type']]: (action: Extract<CallAction, { type: T }>) => unknown
  } = {
    'line.media': ({ payload, mark }) => outbox.media(payload, mark),
    'line.clear': outbox.clear,
    'line.close': () => line.close(),
    'line.hangUp': () => hangUp(),
    'model.open': ({ session }) => sessions.set(session, openSession(session)),
    'model.adopt'({ session }) {
      adopted = sessions.get(session) ?? null
      audio.sendTo(adopted)
    },
    'model.close': ({ session }) => closeSession(session),
    'model.send': ({ event }) => adopted?.send(event),
    'tool.run': (action) => runTool(action),
    'memory.cue': ({ text }) => recall(text),
    'response.finished': ({ response }) => mind.responded(response),
    record: ({ facts }) => options.record(facts),
    log: ({ message, detail }) => log(message, detail),
    ended: () => tearDown(),
  }

  const hangUp = async () => {
    try {
      await options.hangUp(line.callSid)
    } catch (error) {
      log('could not hang up the call at the provider', String(error))
    }
    line.close({ isOver: true })
  }
  const openSession = (session: number) =>
    openModelSession({
      connect: options.connect,
      plan: (signal) => mind.plan(signal),
      codec: options.call.medium.codec,
      said: (event) => modelSaid(session, event),
      alive: () => give({ type: 'model.alive', session }),
      lost: () => {
        closeSession(session)
        give({ type: 'model.closed', session })
      },
      log,
    })
  const modelSaid = (session: number, event: ServerEvent) => {
    give({ type: 'model.said', session, event })
    if (event.type !== 'session.updated' || event.session.expires_at === undefined) return
    const inMs = event.session.expires_at * 1000 - options.epochMs()
    give({ type: 'model.expires', session, inMs })
  }
  const closeSession = (number: number) => {
    const session = sessions.get(number)
    sessions.delete(number)
    if (session === undefined) return
    if (session === adopted) {
      adopted = null
      audio.sendTo(null)
    }
    session.close()
  }

  const runTool = async ({ callId, name, arguments: given }: Extract<CallAction, { type: 'tool.run' }>) => {
    let output: string
    try {
      output = await mind.runTool({ callId, name, arguments: given }, over.signal)
    } catch (error) {
      if (over.signal.aborted) return
      log(`tool ${name} failed during a call`, String(error))
      output = JSON.stringify({ error: 'The tool failed.' })
    }
    give({ type: 'tool.returned', callId, output })
  }
  const recall = async (text: string | null) => {
    const budget = AbortSignal.timeout(RECALL_BUDGET_MS)
    try {
      const memories = await mind.recall({ text }, AbortSignal.any([over.signal, budget]))
      if (memories !== null && !budget.aborted) give({ type: 'memory.surfaced', text: memories })
    } catch (error) {
      if (!budget.aborted && !over.signal.aborted) log('recall failed during a call', String(error))
    }
  }

  const ticking = setInterval(() => {
    outbox.pump()
    audio.tick(nowMs(), state.caller.speaking)
    give({ type: 'tick' })
  }, TICK_MS)
  const tearDown = () => {
    clearInterval(ticking)
    over.abort()
    for (const number of [...sessions.keys()]) closeSession(number)
    options.ended()
  }

  line.listen({
    media(payload, timestampMs) {
      audio.frame(payload, timestampMs, nowMs())
      outbox.pump()
    },
    mark(name) {
      outbox.pump()
      give({ type: 'line.mark', name })
    },
    key(key) {
      audio.keyPressed()
      options.pressed(key)
    },
    resumed: () => give({ type: 'line.resumed' }),
    ended: (how) => give({ type: 'line.ended', reason: how === 'stopped' ? 'caller_hung_up' : 'line_lost' }),
  })
  performAll(first.actions)
  work()

  return {
    /** Ends the call at the provider. */
    hangUp: (reason: EndReason) => give({ type: 'hangup.requested', reason }),
    /** Says that the allowance is used up, then hangs up. */
    leave: () => give({ type: 'allowance.spent' }),
    /** The provider reports that the call is over. Idempotent. */
    lineEnded: (reason: 'caller_hung_up' | 'line_lost') => give({ type: 'line.ended', reason }),
    /** Tells the model of the keypad, as data. */
    tell: (text: string, { asksReply }: { readonly asksReply: boolean }) =>
      give({ type: 'keypad.told', text, asksReply }),
    /** Who is speaking now, and what was said but is not recorded yet. */
    talk: () => talkOf(state),
  }
}
