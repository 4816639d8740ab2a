import type { CallSlot, OfferedCall } from './call-slot.ts'

/** Default time limit for a socket to present its token. */
const START_DEADLINE_MS = 5_000
/** Limit of unsigned sockets that wait for their start. The oldest is refused. */
const MAX_WAITING = 16

const REFUSED = 1008

/** An open text WebSocket. */
export type StreamSocket = {
  send(text: string): void
  close(code?: number, reason?: string): void
  readonly bufferedBytes: number
  listen(handlers: { message(text: string): void; closed(): void }): void
}

/** What a socket's first message says of its call. */
export type Introduction = {
  readonly callSid: string
  readonly accountSid: string
  /** Empty if it has none. */
  readonly token: string
}

export type DoorOptions = {
  readonly slot: CallSlot
  readonly startDeadlineMs?: number | undefined
  readonly refused: (reason: string) => void
}

/**
 * Accepts a socket of the provider only if it introduces itself in time with the token of the reservation, for
 * the same call and account. Closes any other with 1008, and at once if nothing is reserved.
 */
export function createSocketDoor<I extends Introduction>(
  options: DoorOptions & {
    /** Reads the first message. `early`: it may come before the introduction. Null refuses the socket. */
    readonly introduced: (text: string) => I | 'early' | null
    /** Takes the socket over. Its further messages go to the handlers. */
    readonly accepted: (
      call: OfferedCall,
      socket: StreamSocket,
      introduction: I,
    ) => Parameters<StreamSocket['listen']>[0]
  },
) {
  const { slot, startDeadlineMs = START_DEADLINE_MS } = options
  const waiting = new Set<(reason: string) => void>()

  return {
    /** Takes over a socket that was just opened. A signed one does not count against MAX_WAITING. */
    accept(socket: StreamSocket, { isSigned }: { readonly isSigned: boolean }): void {
      let handlers: Parameters<StreamSocket['listen']>[0] | null = null
      let isOver = false

      const settle = () => {
        clearTimeout(deadline)
        waiting.delete(refuse)
      }
      const refuse = (reason: string) => {
        if (isOver || handlers) return
        settle()
        isOver = true
        socket.close(REFUSED, reason)
        options.refused(reason)
      }
      const deadline = setTimeout(() => refuse('no_start'), startDeadlineMs).unref()

      socket.listen({
        message(text) {
          if (isOver) return
          if (handlers) return handlers.message(text)
          const introduction = options.introduced(text)
          if (introduction === 'early') return
          if (introduction === null) return refuse('not_a_start')
          const claim = slot.claim(introduction)
          if (claim.status === 'refused') return refuse(claim.reason)
          settle()
          handlers = options.accepted(claim.call, socket, introduction)
        },
        closed() {
          settle()
          isOver = true
          handlers?.closed()
        },
      })

      const holder = slot.holder()
      if (holder === null || holder.connected) {
        refuse('nothing_reserved')
        return
      }
      if (isSigned) return
      waiting.add(refuse)
      const [oldest] = waiting
      if (waiting.size > MAX_WAITING) oldest?.('too_many_waiting')
    },
  }
}
