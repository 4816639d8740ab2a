import type { ReactiveElement } from 'lit'

/** Runs `start` whenever the host enters the document. The signal aborts when the host leaves it. */
export function whileConnected(host: ReactiveElement, start: (signal: AbortSignal) => void): void {
  let leaving = new AbortController()
  host.addController({
    hostConnected() {
      leaving = new AbortController()
      start(leaving.signal)
    },
    hostDisconnected: () => leaving.abort(),
  })
}

/** Renders the host again at this interval, while `isNeeded`. */
export function tick(host: ReactiveElement, everyMs: number, isNeeded = () => true): void {
  whileConnected(host, (signal) => {
    const ticks = setInterval(() => isNeeded() && host.requestUpdate(), everyMs)
    signal.addEventListener('abort', () => clearInterval(ticks))
  })
}
