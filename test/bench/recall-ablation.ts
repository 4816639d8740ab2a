import { FEATURES, type Feature } from '../../src/memory/recall/features.ts'
import { dot, type Example, fitWeights } from './recall-fit.ts'
import { DEPTHS, meanOf } from './recall-measure.ts'

/** Features that belong together. */
const GROUPS: Readonly<Record<string, readonly Feature[]>> = {
  nothing: [],
  'speaker or subject': ['speaker'],
  'the words themselves': ['own'],
  'words of the same root': ['root'],
  'the turns around it': ['window'],
  'the root around it and before it': ['rootWindow', 'before'],
  'the best of its sitting': ['sittingBest'],
  'follows a question': ['answers'],
  dates: ['dateInside', 'dateDay', 'dateAfter'],
  'tells a time, number, name, title': ['tellsTime', 'tellsNumber', 'tellsName', 'quotesTitle'],
  'asks or acknowledges': ['endsAsking', 'acknowledges'],
  opening: ['opening'],
}

/** Reports recall without each group of features. The weights for a conversation are fitted to the others. */
export function reportAblation(
  conversations: readonly (readonly Example[])[],
  print: (line: string) => void,
): void {
  print('Held out, without …')
  for (const [name, missing] of Object.entries(GROUPS)) {
    const indexes = missing.map((feature) => FEATURES.indexOf(feature))
    const left = conversations.map((examples) => examples.map((example) => withoutFeatures(example, indexes)))
    const found = left.flatMap((examples, held) => {
      const weights = fitWeights(left.filter((_, index) => index !== held).flat(), FEATURES.length)
      return examples.map((example) => recallAtDepths(example, weights))
    })
    const figures = DEPTHS.map((depth, index) => {
      const percent = 100 * meanOf(found.map((each) => each[index] ?? 0))
      return `at${depth} ${percent.toFixed(1)}`
    })
    print(`  ${name}: ${figures.join('  ')}`)
  }
}

function withoutFeatures(example: Example, indexes: readonly number[]): Example {
  const rows = example.rows.map((row) => row.map((value, index) => (indexes.includes(index) ? 0 : value)))
  return { ...example, rows }
}

function recallAtDepths({ rows, isEvidence, wanted }: Example, weights: Float64Array): number[] {
  const ranked = rows
    .map((row, index) => ({ score: dot(weights, row), hit: isEvidence[index] === true }))
    .sort((a, b) => b.score - a.score)
  return DEPTHS.map((depth) => ranked.slice(0, depth).filter(({ hit }) => hit).length / wanted)
}
