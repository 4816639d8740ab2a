import { english } from '../../language/message.ts'
import { ModelError } from '../../model/port.ts'

const PCM = 1
/** The form that some servers give PCM. */
const EXTENSIBLE = 0xfffe
/** Larger chunks before the audio have no place in speech. */
const MAX_CHUNK_BYTES = 64 * 1024
/** A server that streams does not know the size yet, and writes 0 or the largest number. */
const UNKNOWN_BYTES = 0x7fff_0000

/** The rates that speech has. A server that chose another one would choose how much work a conversion is. */
const RATES = new Set([8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000])

/** The samples of some audio, from -32768 to 32767. */
export type Samples = { readonly rate: number; readonly samples: Float32Array }

/** Reads a WAV file of 16-bit PCM as it arrives; of several channels, the first. Throws ModelError for another file. */
export function createWavReader() {
  let rest = Buffer.alloc(0)
  let format: { readonly rate: number; readonly blockBytes: number } | null = null
  let hasBegun = false
  /** Bytes of audio that are still to come; null before the audio. */
  let left: number | null = null

  /** Reads one chunk before the audio. False if it has not arrived in full. */
  function readChunk(): boolean {
    if (!hasBegun) {
      if (rest.length < 12) return false
      if (rest.toString('latin1', 0, 4) !== 'RIFF' || rest.toString('latin1', 8, 12) !== 'WAVE')
        throw notWav()
      rest = rest.subarray(12)
      hasBegun = true
    }
    if (rest.length < 8) return false
    const name = rest.toString('latin1', 0, 4)
    const bytes = rest.readUInt32LE(4)
    if (name === 'data' && format) {
      left = bytes === 0 || bytes >= UNKNOWN_BYTES ? Number.POSITIVE_INFINITY : bytes
      rest = rest.subarray(8)
      return true
    }
    if (bytes > MAX_CHUNK_BYTES) throw notWav()
    const end = 8 + bytes + (bytes % 2)
    if (rest.length < end) return false
    if (name === 'fmt ') format = formatOf(rest.subarray(8, end))
    rest = rest.subarray(end)
    return true
  }

  return {
    /** Returns the samples that are complete now; null before the audio begins. */
    add(chunk: Uint8Array): Samples | null {
      rest = Buffer.concat([rest, chunk])
      while (left === null) if (!readChunk()) return null
      if (!format) throw notWav()
      const { rate, blockBytes } = format
      const blocks = Math.floor(Math.min(rest.length, left) / blockBytes)
      const audio = rest.subarray(0, blocks * blockBytes)
      rest = rest.subarray(audio.length)
      left -= audio.length
      // Nothing that follows the audio is read.
      if (left < blockBytes) rest = Buffer.alloc(0)
      return {
        rate,
        samples: Float32Array.from({ length: blocks }, (_, at) => audio.readInt16LE(at * blockBytes)),
      }
    },
  }
}

function formatOf(chunk: Buffer) {
  if (chunk.length < 16) throw notWav()
  const kind = chunk.readUInt16LE(0)
  const channels = chunk.readUInt16LE(2)
  const rate = chunk.readUInt32LE(4)
  const isPcm = (kind === PCM || kind === EXTENSIBLE) && chunk.readUInt16LE(14) === 16
  if (!isPcm || channels < 1 || channels > 8 || !RATES.has(rate)) throw notWav()
  return { rate, blockBytes: channels * 2 }
}

const notWav = () =>
  new ModelError(
    'malformed',
    english`The speech model did not send a WAV file of 16-bit PCM at a usual rate.`,
  )

/** A WAV file of 16-bit PCM, mono. Node.js runs on little-endian machines only, as WAV is. */
export function wavFile(rate: number, samples: Int16Array): Uint8Array {
  const audio = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)
  return Buffer.concat([headerOf(rate, audio.length), audio])
}

/** The beginning of such a file whose length is not known yet. */
export const streamedWavHeader = (rate: number) => headerOf(rate, UNKNOWN_BYTES)

/** How long a WAV file of 16-bit PCM with nothing before its audio plays; null for any other file. */
export function wavSeconds(wav: Buffer): number | null {
  if (wav.length < HEADER_BYTES || wav.toString('latin1', 0, 4) !== 'RIFF') return null
  if (wav.toString('latin1', 8, 16) !== 'WAVEfmt ' || wav.toString('latin1', 36, 40) !== 'data') return null
  const [kind, channels, rate] = [wav.readUInt16LE(20), wav.readUInt16LE(22), wav.readUInt32LE(24)]
  if (kind !== PCM || wav.readUInt16LE(34) !== 16 || !RATES.has(rate) || channels < 1) return null
  const bytesASecond = rate * channels * 2
  // What else it claims would decide what the recording costs.
  if (wav.readUInt32LE(28) !== bytesASecond) return null
  return (wav.length - HEADER_BYTES) / bytesASecond
}

const HEADER_BYTES = 44

function headerOf(rate: number, audioBytes: number): Uint8Array<ArrayBuffer> {
  const header = Buffer.alloc(HEADER_BYTES)
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(36 + audioBytes, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(PCM, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(rate, 24)
  header.writeUInt32LE(rate * 2, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36, 'latin1')
  header.writeUInt32LE(audioBytes, 40)
  return header
}
