import { decodeWords, wordsMedium } from '../call/medium.ts'
import type { CallLine } from '../call/ports.ts'
import type { StreamSocket } from '../line/socket-door.ts'
import { speechFrames } from './relay-ears.ts'
import { CUT_SHORT, parseRelayMessage, type RelayMessage, relayFrames } from './relay-messages.ts'
import { createSpokenText } from './spoken-text.ts'

/** How long a caller whose words do not follow counts as speaking. The provider may have heard only noise. */
const WORDLESS_MS = 5_000
/** How long a broken relay may take to come back. The provider reports it a second after the break. */
const GRACE_MS = 15_000
/** How long the provider may take to close a relay that we ended. */
const CLOSE_MS = 5_000

export type RelayLine = ReturnType<typeof createRelayLine>

/**
 * A call as text: the provider hears and speaks. The line outlives its socket, so that a call survives a break.
 */
export function createRelayLine(options: {
  readonly callSid: string
  readonly sessionId: string
  /** Monotonic. */
  readonly nowMs: () => number
  readonly log: (message: string, detail: string) => void
}) {
  const { callSid, nowMs } = options
  let listeners: Partial<Parameters<CallLine['listen']>[0]> = {}
  let socket: StreamSocket | null = null
  let isOver = false
  let hasBroken = false
  /** Some of a reply was sent, but not its end. */
  let isOpen = false
  let isSpeaking = false
  let timer: NodeJS.Timeout | undefined
  const startedMs = nowMs()
  const spoken = createSpokenText({ nowMs, spoken: (mark) => listeners.mark?.(mark) })

  const hear = (frame: string) => listeners.media?.(frame, nowMs() - startedMs)
  const wait = (ms: number, then: () => void) => {
    clearTimeout(timer)
    timer = setTimeout(then, ms).unref()
  }
  const started = () => {
    if (!isSpeaking) hear(speechFrames.started)
    isSpeaking = true
    wait(WORDLESS_MS, () => stopped(''))
  }
  const stopped = (text: string) => {
    clearTimeout(timer)
    isSpeaking = false
    hear(speechFrames.said(text))
  }

  const receive: { readonly [T in RelayMessage['type']]: (of: Extract<RelayMessage, { type: T }>) => void } =
    {
      setup: () => undefined,
      prompt({ voicePrompt, last }) {
        started()
        if (last) stopped(voicePrompt)
      },
      interrupt({ utteranceUntilInterrupt }) {
        // First, because the call settles what was heard when the caller begins to speak.
        spoken.interrupted(utteranceUntilInterrupt)
        started()
      },
      dtmf: ({ digit }) => listeners.key?.(digit),
      // The description may repeat what was said.
      error: ({ description }) => options.log('the relay reported an error', errorCode(description)),
      info({ name, value }) {
        if (name === 'tokensPlayed') spoken.reported(value)
      },
    }

  function broke(): void {
    socket = null
    if (isOver) return
    hasBroken = true
    isOpen = false
    isSpeaking = false
    spoken.broke()
    wait(GRACE_MS, () => {
      options.log('a broken relay did not come back', `within ${GRACE_MS / 1000} seconds`)
      giveUp()
    })
  }

  /** It does not come back. */
  function giveUp(): void {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    listeners.ended?.('closed')
  }

  const line: CallLine = {
    callSid,
    streamSid: options.sessionId,
    medium: wordsMedium,
    sendMedia(payload) {
      if (socket === null) return
      const token = decodeWords(payload)
      isOpen = token !== ''
      spoken.sent(token)
      socket.send(relayFrames.text(token, !isOpen))
    },
    sendMark(name) {
      if (socket !== null) spoken.marked(name)
    },
    // Nothing recalls what the provider has. It drops it itself when the caller interrupts.
    sendClear() {
      spoken.forget()
      if (isOpen) socket?.send(relayFrames.text('', true))
      isOpen = false
    },
    close(call) {
      isOver = true
      clearTimeout(timer)
      spoken.forget()
      const ended = socket
      ended?.send(relayFrames.end(call?.isOver ? undefined : CUT_SHORT))
      setTimeout(() => ended?.close(1000), CLOSE_MS).unref()
    },
    get bufferedBytes() {
      return socket?.bufferedBytes ?? 0
    },
    listen(handlers) {
      listeners = handlers
    },
  }

  /**
   * Gives up a socket that the provider gave up, and waits for another one from now on. The provider may report a
   * break before we notice it, or later.
   */
  function detach(): void {
    const before = socket
    broke()
    before?.close(1000)
  }

  return {
    line,
    detach,
    giveUp,
    /** Carries the call on this socket from now on. */
    attach(next: StreamSocket): Parameters<StreamSocket['listen']>[0] {
      if (socket !== null) detach()
      clearTimeout(timer)
      socket = next
      if (hasBroken) listeners.resumed?.()
      return {
        message(text) {
          const message = socket === next && !isOver ? parseRelayMessage(text) : null
          if (message) (receive[message.type] as (of: RelayMessage) => void)(message)
        },
        closed() {
          if (socket === next) broke()
        },
      }
    },
  }
}

/** The provider's number of an error. */
function errorCode(description: string): string {
  return description.match(/\b6\d{4}\b/)?.[0] ?? 'no code'
}
