/** G.711 mu-law at 8 kHz, mono, as the phone network carries it. */

const BIAS = 0x84
const CLIP = 32_635

/** G.711: the linear 16-bit sample of each mu-law byte. */
const LINEAR = Int16Array.from({ length: 256 }, (_, byte) => {
  const value = ~byte & 0xff
  const magnitude = (((value & 0x0f) << 3) + BIAS) << ((value & 0x70) >> 4)
  return value & 0x80 ? BIAS - magnitude : magnitude - BIAS
})

/** The linear samples of mu-law audio. */
export function decodeMuLaw(audio: Uint8Array): Int16Array {
  const samples = new Int16Array(audio.length)
  for (let index = 0; index < audio.length; index += 1) samples[index] = LINEAR[audio[index] ?? 0] ?? 0
  return samples
}

/** Linear samples, from -32768 to 32767, as mu-law audio. */
export function encodeMuLaw(samples: Float32Array): Buffer {
  const audio = Buffer.allocUnsafe(samples.length)
  for (let index = 0; index < samples.length; index += 1) {
    const sample = samples[index] ?? 0
    const magnitude = Math.min(Math.round(Math.abs(sample)), CLIP) + BIAS
    // The position of the highest bit, of which the bias sets at least the eighth.
    const exponent = 24 - Math.clz32(magnitude)
    const mantissa = (magnitude >> (exponent + 3)) & 0x0f
    audio[index] = ~((sample < 0 ? 0x80 : 0) | (exponent << 4) | mantissa)
  }
  return audio
}
