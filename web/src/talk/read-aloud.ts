import { Refused } from '../api/http.ts'
import type { App } from '../app/app.ts'
import { msg } from '../design/msg.ts'
import { openPlayer } from './audio.ts'
import { explainVoice } from './explain-voice.ts'

/** The header of a WAV file, which the player does not need. */
const headerBytes = 44
const end = 'end'

/** Reads a message of the delegate aloud, with a toast to stop it. Returns a function that stops it, too. */
export function readAloud(app: App, seq: number): () => void {
  const stopping = new AbortController()
  const { signal } = stopping
  const stop = () => stopping.abort()
  const closeToast = app.toast(msg`Reading aloud…`, 'speaker', {
    shownForMs: Number.POSITIVE_INFINITY,
    actions: [{ label: msg`Stop`, run: stop }],
    onClose: stop,
  })
  signal.addEventListener('abort', closeToast)
  // The microphone would hear it.
  addEventListener('talk', stop, { signal })
  addEventListener('dictate', stop, { signal })
  run(seq, signal)
    .catch((error: unknown) => {
      if (!signal.aborted) explainVoice(app, error)
    })
    .finally(stop)
  return stop
}

async function run(seq: number, signal: AbortSignal): Promise<void> {
  const response = await fetch(`/api/timeline/events/${seq}/speech`, { method: 'POST', signal })
  if (!response.ok || response.body === null) throw new Refused(await response.json(), null)
  const played = Promise.withResolvers<void>()
  const player = await openPlayer(() => played.resolve())
  signal.addEventListener('abort', () => played.resolve())
  try {
    let skip = headerBytes
    let odd = new Uint8Array(0)
    const reader = response.body.getReader()
    // Safari 17 cannot iterate over a stream.
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const chunk = read.value
      const audio = new Uint8Array(odd.length + chunk.length)
      audio.set(odd)
      audio.set(chunk, odd.length)
      const start = Math.min(skip, audio.length)
      skip -= start
      // A sample has two bytes, which may arrive in two chunks.
      const whole = start + (audio.length - start - ((audio.length - start) % 2))
      odd = audio.slice(whole)
      if (whole > start) player.play(audio.slice(start, whole).buffer)
    }
    player.mark(end)
    await played.promise
  } finally {
    player.close()
  }
}
