import { type ClientMessage, parseServerMessage, type ServerMessage } from '../data/chat.ts'
import { backoffMs } from './backoff.ts'

export type Connection =
  | { readonly state: 'connecting' }
  | { readonly state: 'open' }
  /**
   * Cut off; the next attempt is at `retryAtMs` (epoch). `isRefused`: the service answers requests, again and again, and
   * yet no connection comes about, as behind a proxy that passes no WebSocket on.
   */
  | { readonly state: 'waiting'; readonly retryAtMs: number; readonly isRefused: boolean }
  | { readonly state: 'closed' }

export type MayConnect = 'yes' | 'no' | 'unknown'

export type ChatSocket = {
  /** False where there is no open connection: the message is then not sent. */
  send(message: ClientMessage): boolean
  /** What was sent has not all left this device yet. */
  readonly isUploading: boolean
  /** Tries at once, whatever the backoff says. */
  retryNow(): void
  /** Gives the present connection up, if there is one, and opens another. */
  restart(): void
  close(): void
}

/** So many attempts in a row that fail where requests are answered are no accident of a start. */
const refusedAttempts = 3
/** A connection that has not come about by then is given up and tried again. */
const openTimeoutMs = 10_000

/**
 * The socket of the chat, reconnecting for ever. `url` is asked before each attempt, so that it can carry what
 * has been seen; `mayConnect` decides whether an attempt makes sense at all: `no` ends it for good, `unknown` is no answer.
 */
export function openChatSocket(options: {
  readonly url: () => string
  readonly mayConnect: () => Promise<MayConnect>
  /** Anything at all came, whatever it says. */
  readonly onHeard: () => void
  readonly onMessage: (message: ServerMessage) => void
  readonly onConnection: (connection: Connection) => void
  readonly onMalformed: (error: unknown) => void
  readonly random: () => number
  readonly nowMs: () => number
}): ChatSocket {
  let socket: WebSocket | null = null
  let timer: ReturnType<typeof setTimeout> | null = null
  let attempt = 0
  /** Attempts in a row before which the service answered and which failed all the same. */
  let refused = 0
  let closed = false

  function connect(): void {
    timer = null
    options.onConnection({ state: 'connecting' })
    const opening = new WebSocket(options.url())
    socket = opening
    const giveUp = setTimeout(() => opening.close(), openTimeoutMs)
    opening.addEventListener('open', () => {
      clearTimeout(giveUp)
      if (socket !== opening) return
      options.onConnection({ state: 'open' })
    })
    opening.addEventListener('message', (message: MessageEvent<unknown>) => {
      if (socket !== opening || typeof message.data !== 'string') return
      // Only a server that speaks proves the connection; one that accepts and drops must not reset the backoff.
      attempt = 0
      refused = 0
      options.onHeard()
      let parsed: ServerMessage | null
      try {
        parsed = parseServerMessage(message.data)
      } catch (error) {
        options.onMalformed(error)
        return
      }
      if (parsed) options.onMessage(parsed)
    })
    opening.addEventListener('close', () => {
      clearTimeout(giveUp)
      if (socket === opening) scheduleRetry()
    })
  }

  function scheduleRetry(): void {
    socket = null
    if (closed) return
    const delayMs = backoffMs(attempt, options.random)
    attempt += 1
    const isRefused = refused >= refusedAttempts
    options.onConnection({ state: 'waiting', retryAtMs: options.nowMs() + delayMs, isRefused })
    timer = setTimeout(() => void tryAgain(), delayMs)
  }

  async function tryAgain(): Promise<void> {
    timer = null
    const may = await options.mayConnect()
    if (may === 'no') {
      end()
      return
    }
    refused = may === 'yes' ? refused + 1 : 0
    if (!closed && socket === null && timer === null) connect()
  }

  function end(): void {
    closed = true
    if (timer !== null) clearTimeout(timer)
    timer = null
    const ending = socket
    socket = null
    ending?.close()
    options.onConnection({ state: 'closed' })
  }

  connect()

  return {
    send(message) {
      if (socket?.readyState !== WebSocket.OPEN) return false
      socket.send(JSON.stringify(message))
      return true
    },
    get isUploading() {
      return socket !== null && socket.bufferedAmount > 0
    },
    retryNow() {
      if (closed || socket !== null || timer === null) return
      clearTimeout(timer)
      timer = null
      void tryAgain()
    },
    restart() {
      if (closed) return
      if (socket === null) {
        this.retryNow()
        return
      }
      const stale = socket
      socket = null
      stale.close()
      connect()
    },
    close: end,
  }
}
