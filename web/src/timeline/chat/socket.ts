import type { ClientMessage, ServerMessage } from '../../../../src/http/contract/chat-socket.ts'

export type Connection =
  | { readonly state: 'connecting' }
  | { readonly state: 'open' }
  /**
   * Disconnected. `isRefused`: requests succeed but the socket keeps failing, as behind a proxy that does not
   * forward WebSockets.
   */
  | { readonly state: 'waiting'; readonly isRefused: boolean }
  | { readonly state: 'closed' }

export type MayConnect = 'yes' | 'no' | 'unknown'

export type ChatSocket = ReturnType<typeof openChatSocket>

/** After this many failed attempts in a row while requests succeed, `isRefused` is set. */
const refusedAttempts = 3
const openTimeoutMs = 10_000
const firstDelayMs = 500
const maxDelayMs = 15_000

/** Exponential backoff with equal jitter (half fixed, half random). `attempt` counts from 0. */
export function backoffMs(attempt: number, random = Math.random): number {
  const stepMs = Math.min(maxDelayMs, firstDelayMs * 2 ** attempt)
  return stepMs / 2 + (stepMs / 2) * random()
}

/**
 * The chat's WebSocket. It reconnects until closed. `url` is called before each attempt, so that it can carry
 * the last seq. `mayConnect` is asked before each retry: `no` closes the socket for good, `unknown` retries
 * all the same.
 */
export function openChatSocket(options: {
  readonly url: () => string
  readonly mayConnect: () => Promise<MayConnect>
  /** Called for every message, before it is parsed. */
  readonly onHeard: () => void
  readonly onMessage: (message: ServerMessage) => void
  readonly onConnection: (connection: Connection) => void
  readonly onMalformed: (error: unknown) => void
}) {
  let socket: WebSocket | null = null
  let timer: ReturnType<typeof setTimeout> | null = null
  let attempt = 0
  /** Failed attempts in a row although `mayConnect` said yes. */
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
      // Reset the backoff only on a message, because a proxy may accept connections and then drop them.
      attempt = 0
      refused = 0
      options.onHeard()
      try {
        options.onMessage(JSON.parse(message.data))
      } catch (error) {
        // The service may be another version than this page.
        options.onMalformed(error)
      }
    })
    opening.addEventListener('close', () => {
      clearTimeout(giveUp)
      if (socket === opening) scheduleRetry()
    })
  }

  function scheduleRetry(): void {
    socket = null
    if (closed) return
    options.onConnection({ state: 'waiting', isRefused: refused >= refusedAttempts })
    timer = setTimeout(() => void retry(), backoffMs(attempt))
    attempt += 1
  }

  async function retry(): Promise<void> {
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
    /** Returns false without sending if the connection is not open. */
    send(message: ClientMessage): boolean {
      if (socket?.readyState !== WebSocket.OPEN) return false
      socket.send(JSON.stringify(message))
      return true
    },
    /** True while sent data is still buffered on this device. */
    get isUploading(): boolean {
      return socket !== null && socket.bufferedAmount > 0
    },
    /** If disconnected, reconnects without waiting for the backoff. */
    retryNow(): void {
      if (closed || socket !== null || timer === null) return
      clearTimeout(timer)
      timer = null
      void retry()
    },
    /** Replaces the current connection, or reconnects at once. */
    restart(): void {
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
