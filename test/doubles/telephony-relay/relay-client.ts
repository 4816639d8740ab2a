import { WebSocket } from 'ws'
import { published, type RelayMarkup, relayOf } from './published.ts'

/** The pace of the provider's voice. */
const MS_A_CHARACTER = 60
const TICK_MS = 10
/** Between the parts of what a caller says. */
const PART_MS = 200
/** Between the end of a relay and the request for the markup after it, in real time. */
const ACTION_AFTER_MS = 20
/** The timeout of `until`, unrelated to any promise of the service. */
const GIVE_UP_MS = 60_000
const MALFORMED_LIMIT = 10

export type RelayClient = Awaited<ReturnType<typeof openRelay>>

type ActionFields = Readonly<Record<string, string>>

/**
 * The telephony provider's side of a call by relay, as documented; what was only observed is marked. It speaks text in
 * real time, or `factor` times as fast, clause by clause, and drops it when the caller interrupts. When the socket
 * ends, it asks the action for markup and follows it.
 */
export async function openRelay(options: {
  /** Replaces the public origin of the relay's address. */
  readonly origin: string
  readonly markup: string
  readonly callSid: string
  readonly accountSid?: string
  readonly from?: string
  readonly factor?: number
  /** Whether it reports what it spoke (observed). */
  readonly reports?: boolean
  readonly sign?: (url: string) => string
  /** Requests the markup of the action. */
  readonly action: (path: string, fields: ActionFields) => Promise<string>
}) {
  const { callSid, accountSid = 'AC1', from = '+14155550100', factor = 1, reports = true } = options
  const ended = Promise.withResolvers<{ code: number; reason: string }>()
  const problems: string[] = []
  const sessions: string[] = []
  const markups: string[] = [options.markup]
  let relay = relayOf(options.markup) as RelayMarkup
  if (relay === null) throw new Error(`no relay in ${options.markup}`)
  let socket: WebSocket
  let isHungUp = false
  let isHandedBack = false
  let isAbandoned = false
  let handoff: string | null = null
  let malformed = 0
  /** Received, but not yet a whole clause. */
  let unspoken = ''
  /** Clauses to be spoken, the first from `at`. */
  let clauses: string[] = []
  let at = 0
  let heard = ''
  let nowMs = 0
  const toSay: { parts: string[]; dueMs: number; done: () => void }[] = []
  let waiters: { due: () => boolean; done: () => void }[] = []

  const send = (message: object) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
  }
  const report = (text: string) => {
    if (reports && text.trim() !== '') send({ type: 'info', name: 'tokensPlayed', value: text.trim() })
  }
  const take = (isEnd: boolean) => {
    const whole = isEnd ? unspoken.length : (unspoken.match(/^[\s\S]*[.,;:!?](?=\s)/)?.[0].length ?? 0)
    const text = unspoken.slice(0, whole)
    unspoken = unspoken.slice(whole)
    clauses.push(
      ...(text.match(/[\s\S]+?(?:[.,;:!?](?=\s)|$)/g) ?? []).filter((clause) => clause.trim() !== ''),
    )
  }
  const isPlaying = () => clauses.length > 0
  const interrupt = () => {
    if (!isPlaying() || !/^(any|speech|true)$/.test(relay.attributes.interruptible ?? 'any')) return
    const spoken = (clauses[0] ?? '').slice(0, at)
    report(spoken)
    send({
      type: 'interrupt',
      utteranceUntilInterrupt: spoken.trim(),
      durationUntilInterruptMs: Math.round(spoken.length * MS_A_CHARACTER),
    })
    clauses = []
    unspoken = ''
    at = 0
  }
  const play = (characters: number) => {
    for (let room = characters; room > 0 && clauses[0] !== undefined; ) {
      const part = clauses[0].slice(at, at + room)
      heard += part
      at += part.length
      room -= part.length
      if (at < clauses[0].length) return
      report(clauses.shift() ?? '')
      at = 0
    }
  }
  const speak = () => {
    const next = toSay[0]
    if (!next || nowMs < next.dueMs) return
    const part = next.parts.shift()
    if (part === undefined) return
    if (next.dueMs === 0) interrupt()
    const isLast = next.parts.length === 0
    if (isLast || relay.attributes.partialPrompts === 'true')
      send({ type: 'prompt', voicePrompt: part, lang: 'en-US', last: isLast })
    next.dueMs = nowMs + PART_MS
    if (!isLast) return
    toSay.shift()
    next.done()
  }

  const receive = (data: string) => {
    const parsed = published.safeParse(jsonOf(data))
    if (!parsed.success) {
      problems.push(data)
      malformed += 1
      send({ type: 'error', description: `Invalid message received, code: 64107, ${data}` })
      if (malformed >= MALFORMED_LIMIT) socket.close(1007, 'Too many consecutive malformed messages.')
      return
    }
    malformed = 0
    const message = parsed.data
    if (message.type === 'text') {
      unspoken += message.token
      take(message.last)
    } else if (message.type === 'end') {
      isHandedBack = true
      handoff = message.handoffData ?? null
      socket.close(1000)
    }
  }

  /** How a relay ended, for the action. */
  function fields(sessionId: string): ActionFields {
    const status = isHungUp ? 'completed' : isHandedBack ? 'ended' : 'failed'
    return {
      CallSid: callSid,
      AccountSid: accountSid,
      From: from,
      CallStatus: isHungUp ? 'completed' : 'in-progress',
      SessionId: sessionId,
      SessionStatus: status,
      SessionDuration: String(Math.round(nowMs / 1000)),
      ...(handoff === null ? {} : { HandoffData: handoff }),
      ...(status === 'failed' ? { ErrorCode: '64105', ErrorMessage: 'Websocket ended' } : {}),
    }
  }

  async function connect(): Promise<void> {
    const { pathname } = new URL(relay.url)
    const headers = options.sign ? { 'x-twilio-signature': options.sign(relay.url) } : {}
    const opened = new WebSocket(`${options.origin}${pathname}`, { headers, perMessageDeflate: false })
    socket = opened
    const sessionId = `VX${sessions.length + 1}`
    await new Promise((resolve, reject) => {
      opened.once('open', resolve)
      opened.once('error', reject)
    })
    opened.on('error', () => opened.terminate())
    opened.on('message', (data) => receive(data.toString()))
    opened.on('close', (code, reason) => void over(sessionId, { code, reason: reason.toString() }))
    send({
      type: 'setup',
      sessionId,
      accountSid,
      parentCallSid: '',
      callSid,
      from,
      to: '+14155550111',
      forwardedFrom: '',
      callType: 'PSTN',
      callerName: '',
      direction: 'inbound',
      callStatus: sessions.length === 0 ? 'RINGING' : 'IN_PROGRESS',
      customParameters: { token: relay.token },
    })
    sessions.push(sessionId)
  }

  async function over(sessionId: string, how: { code: number; reason: string }): Promise<void> {
    clauses = []
    unspoken = ''
    at = 0
    await new Promise((resolve) => setTimeout(resolve, ACTION_AFTER_MS))
    if (isAbandoned) return ended.resolve(how)
    const markup = await options.action(new URL(relay.action).pathname, fields(sessionId)).catch(() => '')
    markups.push(markup)
    const next = relayOf(markup)
    if (next === null || isHungUp) {
      clearInterval(clock)
      ended.resolve(how)
      return
    }
    relay = next
    isHandedBack = false
    await connect().catch(() => ended.resolve(how))
  }

  const until = (what: string, due: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`timed out waiting for: ${what}`)), GIVE_UP_MS)
      const done = () => {
        clearTimeout(timer)
        resolve()
      }
      waiters.push({ due, done })
    })

  await connect()
  let lastMs = performance.now()
  let owedCharacters = 0
  // Its time stops while the process is suspended, so that nothing happens between two lines of a test.
  const clock = setInterval(() => {
    const now = performance.now()
    const stepMs = Math.min(now - lastMs, 2 * TICK_MS) * factor
    lastMs = now
    nowMs += stepMs
    owedCharacters = isPlaying() ? owedCharacters + stepMs / MS_A_CHARACTER : 0
    play(Math.floor(owedCharacters))
    owedCharacters %= 1
    speak()
    const met = waiters.filter((waiter) => waiter.due())
    waiters = waiters.filter((waiter) => !met.includes(waiter))
    for (const waiter of met) waiter.done()
  }, TICK_MS)
  void ended.promise.then(() => clearInterval(clock))

  return {
    /** Says this, in parts that grow word by word, and interrupts what is being spoken. Resolves once it is said. */
    say(text: string): Promise<void> {
      const words = text.split(' ')
      const parts = words.map((_, index) => words.slice(0, index + 1).join(' '))
      return new Promise((done) => toSay.push({ parts: [...parts, text], dueMs: 0, done }))
    },
    /** Makes a noise, which interrupts but has no words. */
    cough: interrupt,
    press(keys: string): void {
      for (const digit of keys) send({ type: 'dtmf', digit })
    },
    /** Everything that the caller heard. */
    heardText: () => heard,
    isPlaying,
    until,
    /** Lets the call run for `ms` of its own time. */
    wait(ms: number): Promise<void> {
      const untilMs = nowMs + ms
      return until(`${ms} ms`, () => nowMs >= untilMs)
    },
    send,
    /** Messages that the provider refused. */
    problems,
    /** The ids of the relays of this call. */
    sessions,
    /** The markup that connected the call, and what each action answered. */
    markups,
    hangUp(): void {
      isHungUp = true
      socket.close(1000, 'Closing websocket session')
    },
    /** Breaks the connection without a close frame. */
    drop: () => socket.terminate(),
    /** Leaves without a word, as a test that is over. */
    abandon(): void {
      isAbandoned = true
      clearInterval(clock)
      socket.terminate()
    },
    /** The call itself is over. */
    closed: ended.promise,
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
