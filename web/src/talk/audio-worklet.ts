/** Runs in the thread of the audio, where nothing else of this app does. */

declare class AudioWorkletProcessor {
  readonly port: MessagePort
}
declare function registerProcessor(name: string, processor: unknown): void
/** Of the context. */
declare const sampleRate: number

/** The microphone: posts 16-bit PCM at the wanted rate, 20 ms at a time. */
class Capture extends AudioWorkletProcessor {
  /** How many samples of the context are one of the wanted rate. */
  private readonly step: number
  private frame: Int16Array<ArrayBuffer>
  private filled = 0
  private sum = 0
  private count = 0
  private position = 0

  constructor({ processorOptions }: { processorOptions: { rate: number } }) {
    super()
    this.step = sampleRate / processorOptions.rate
    this.frame = new Int16Array(processorOptions.rate / 50)
  }

  process([input]: readonly (readonly Float32Array[])[]): boolean {
    // Averages, for a browser that does not convert the rate itself; else a step is one sample.
    for (const sample of input?.[0] ?? []) {
      this.sum += sample
      this.count += 1
      this.position += 1
      if (this.position < this.step) continue
      this.position -= this.step
      this.add(this.sum / this.count)
      this.sum = 0
      this.count = 0
    }
    return true
  }

  private add(sample: number): void {
    this.frame[this.filled] = Math.max(-1, Math.min(1, sample)) * 32_767
    this.filled += 1
    if (this.filled < this.frame.length) return
    const { buffer } = this.frame
    this.frame = new Int16Array(this.frame.length)
    this.filled = 0
    this.port.postMessage(buffer, [buffer])
  }
}

type Queued = { readonly samples: Int16Array; at: number } | { readonly mark: string }
export type PlayerMessage =
  | { readonly audio: ArrayBuffer }
  | { readonly mark: string }
  | { readonly clear: true }

/** The loudspeaker: plays PCM in order, and posts each mark once everything before it was played. */
class Playback extends AudioWorkletProcessor {
  private queue: Queued[] = []

  constructor() {
    super()
    this.port.onmessage = ({ data }: MessageEvent<PlayerMessage>) => {
      if ('audio' in data) this.queue.push({ samples: new Int16Array(data.audio), at: 0 })
      else if ('mark' in data) this.queue.push(data)
      else this.queue = []
    }
  }

  process(_inputs: unknown, [output]: readonly (readonly Float32Array[])[]): boolean {
    const channel = output?.[0]
    if (!channel) return true
    for (let filled = 0; ; ) {
      const head = this.queue[0]
      if (!head) return true
      if ('mark' in head) {
        this.port.postMessage(head.mark)
        this.queue.shift()
        continue
      }
      if (filled === channel.length) return true
      const count = Math.min(channel.length - filled, head.samples.length - head.at)
      for (let index = 0; index < count; index += 1)
        channel[filled + index] = (head.samples[head.at + index] ?? 0) / 32_768
      filled += count
      head.at += count
      if (head.at === head.samples.length) this.queue.shift()
    }
  }
}

registerProcessor('capture', Capture)
registerProcessor('playback', Playback)
