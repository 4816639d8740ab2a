/** Half the width of the filter, in periods of the lower rate. A wider filter is steeper. */
const PERIODS = 16
/** Where the filter begins to cut, as a share of the lower rate. Half of it would be the highest frequency. */
const CUTOFF = 0.45

/**
 * Changes the rate of audio that arrives in pieces, and removes what the new rate cannot carry: without the low-pass,
 * it would come back as false tones. A windowed sinc with a table of its phases.
 */
export function createResampler(from: number, to: number) {
  const divisor = greatestDivisor(from, to)
  const [up, down] = [to / divisor, from / divisor]
  const half = Math.ceil((PERIODS * from) / Math.min(from, to))
  const filters = Array.from({ length: up }, (_, phase) => filterOf(phase / up, half, from, to))
  /** Audio that later samples need, which begins `half` before the next one. */
  let held = new Float32Array(half)
  /** The phase of the next sample. */
  let phase = 0

  function take(samples: Float32Array): Float32Array<ArrayBuffer> {
    const input = new Float32Array(held.length + samples.length)
    input.set(held)
    input.set(samples, held.length)
    const output: number[] = []
    let start = 0
    while (start + 2 * half < input.length) {
      const filter = filters[phase] as Float32Array
      let sum = 0
      for (let tap = 0; tap < filter.length; tap += 1) sum += (filter[tap] ?? 0) * (input[start + tap] ?? 0)
      output.push(sum)
      start += Math.floor((phase + down) / up)
      phase = (phase + down) % up
    }
    held = input.slice(start)
    return Float32Array.from(output)
  }

  return {
    add: take,
    /** Returns the last samples. */
    end: () => take(new Float32Array(half)),
  }
}

/** The weights of the samples around a point between two of them, for `half` samples on each side. */
function filterOf(offset: number, half: number, from: number, to: number): Float32Array {
  const cutoff = (2 * CUTOFF * Math.min(from, to)) / from
  const weights = Float32Array.from({ length: 2 * half + 1 }, (_, tap) => {
    const distance = tap - half - offset
    if (Math.abs(distance) >= half) return 0
    const x = Math.PI * cutoff * distance
    return (x === 0 ? 1 : Math.sin(x) / x) * (0.5 + 0.5 * Math.cos((Math.PI * distance) / half))
  })
  // Every phase passes a constant unchanged.
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return weights.map((weight) => weight / sum)
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b)
}
