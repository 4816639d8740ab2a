/** One question to learn from: the features of its candidates, and which of them are evidence. */
export type Example = {
  readonly rows: readonly (readonly number[])[]
  readonly isEvidence: readonly boolean[]
  /** How many turns are evidence, whether candidates or not. */
  readonly wanted: number
}

const STEPS = 120
const RATE = 0.15
/** L2 penalty, so that weights do not fit single questions. */
const RIDGE = 1e-3
const MEAN_DECAY = 0.9
const SQUARE_DECAY = 0.99

/**
 * Weights of a linear ranking, fitted by softmax cross-entropy of each evidence against all other candidates.
 * The evidence of a question shares its weight. Uses Adam (Kingma and Ba 2015) from zero, without randomness.
 */
export function fitWeights(examples: readonly Example[], size: number): Float64Array {
  const usable = examples.filter(({ isEvidence }) => isEvidence.includes(true) && isEvidence.includes(false))
  const weights = new Float64Array(size)
  const mean = new Float64Array(size)
  const square = new Float64Array(size)
  for (let step = 1; step <= STEPS; step += 1) {
    const gradient = new Float64Array(size)
    for (const example of usable) addGradient(example, weights, gradient, 1 / usable.length)
    for (let index = 0; index < size; index += 1) {
      const slope = at(gradient, index) + 2 * RIDGE * at(weights, index)
      mean[index] = MEAN_DECAY * at(mean, index) + (1 - MEAN_DECAY) * slope
      square[index] = SQUARE_DECAY * at(square, index) + (1 - SQUARE_DECAY) * slope * slope
      const unbiasedMean = at(mean, index) / (1 - MEAN_DECAY ** step)
      const unbiasedSquare = at(square, index) / (1 - SQUARE_DECAY ** step)
      weights[index] = at(weights, index) - (RATE * unbiasedMean) / (Math.sqrt(unbiasedSquare) + 1e-8)
    }
  }
  return weights
}

function addGradient(
  { rows, isEvidence }: Example,
  weights: Float64Array,
  gradient: Float64Array,
  share: number,
): void {
  const scores = rows.map((row) => dot(weights, row))
  const highest = Math.max(...scores)
  const masses = scores.map((score) => Math.exp(score - highest))
  let otherMass = 0
  const otherSum = new Float64Array(weights.length)
  rows.forEach((row, index) => {
    if (isEvidence[index]) return
    otherMass += masses[index] ?? 0
    for (let feature = 0; feature < row.length; feature += 1)
      otherSum[feature] = at(otherSum, feature) + (masses[index] ?? 0) * at(row, feature)
  })
  const evidence = rows.flatMap((row, index) =>
    isEvidence[index] ? [{ row, mass: masses[index] ?? 0 }] : [],
  )
  for (const { row, mass } of evidence) {
    const lost = (otherMass / (otherMass + mass)) * (share / evidence.length)
    for (let feature = 0; feature < row.length; feature += 1) {
      const pull = lost * (at(otherSum, feature) / (otherMass || 1) - at(row, feature))
      gradient[feature] = at(gradient, feature) + pull
    }
  }
}

export function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0
  for (let index = 0; index < a.length; index += 1) sum += at(a, index) * at(b, index)
  return sum
}

function at(numbers: ArrayLike<number>, index: number): number {
  return numbers[index] ?? 0
}
