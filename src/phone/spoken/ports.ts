/** How the words of the caller arrive. */
export type Ears = {
  /** One frame of the line's media, base64: mu-law, or what `speechFrames` encodes. */
  hear(audio: string): void
  /** No handler is called afterwards. */
  close(): void
}

/**
 * `started` and `stopped` alternate. `heard` follows each `stopped` once, in the same order: the words, empty for
 * noise, or null if they were not understood. No handler is called before this returns.
 */
export type CreateEars = (handlers: {
  started(): void
  stopped(): void
  heard(text: string | null): void
}) => Ears

/** Makes one sentence playable: pieces in the medium of the line (base64 mu-law, or text for a relay). */
export type Mouth = { speak(sentence: string, signal: AbortSignal): AsyncIterable<string> }
