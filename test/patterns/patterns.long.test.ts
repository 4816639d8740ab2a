import vm from 'node:vm'
import { describe, expect, test } from 'vitest'
import { type Attack, attacksOn, textOf } from './attacks.ts'
import { type Found, loadModules, readSources } from './collect.ts'

/*
 * No text may hold a thread. The test measures each pattern on texts that are derived from the pattern itself
 * (docs/decisions/0029-linear-patterns.md).
 */

/** First with a text on which a linear pattern takes no time … */
const SHORT = { chars: 20_000, limitMs: 5 }
/** … then, where it did take some, with one that is longer than what the service reads at once. */
const LONG = { chars: 200_000, limitMs: 500 }
/** A busy machine may be slow once. */
const TRIES = 3

const script = new vm.Script('text.replace(pattern, "")')
const context = vm.createContext({ text: '', pattern: /./ })

/**
 * Whether the engine is done with the text within the limit, in processor time of this thread: other load does not count.
 * V8 can be stopped while it backtracks.
 */
function isQuick(pattern: RegExp, text: string, limitMs: number): boolean {
  Object.assign(context, { text, pattern })
  const before = process.threadCpuUsage()
  try {
    script.runInContext(context, { timeout: LONG.limitMs * 3 })
  } catch {
    // Stopped: whether it or the machine was slow, the processor time tells.
  }
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000 < limitMs
}

/** Built while the page is used: the words of a search, escaped, as alternatives, over one line of what was found. */
const BUILT_LATER = ['web/src/view/search-dialog.ts']
/** A text on which the pattern takes long; undefined where none is found. */
function hostileTo(pattern: RegExp): Attack | undefined {
  const isSlow = (attack: Attack, { chars, limitMs }: typeof SHORT) =>
    Array.from({ length: TRIES }).every(() => !isQuick(pattern, textOf(attack, chars), limitMs))
  return attacksOn(pattern).find((attack) => isSlow(attack, SHORT) && isSlow(attack, LONG))
}

function slowAmong(found: readonly Found[]): string[] {
  const distinct = Map.groupBy(found, ({ pattern }) => String(pattern))
  return [...distinct].flatMap(([text, [first, ...others]]) => {
    const attack = first && hostileTo(first.pattern)
    const places = [first, ...others].map((each) => each?.place).join(', ')
    return attack ? [`${places} ${text}: ${JSON.stringify(attack)}`] : []
  })
}

describe('the check itself', () => {
  test.each([
    ['an ambiguous repetition', /^(?:(?:please) |can you (?:please )?)*x/],
    ['two repetitions of the same', /^\w+\w+!/],
    ['a repetition that is begun anew at each character', /\s+$/],
    ['a search that is begun anew at each word', /<data\b[\s\S]*?<\/data>/g],
  ])('finds %s', (_name, pattern) => {
    expect(hostileTo(pattern)).toBeDefined()
  })
})

describe('every pattern takes time in proportion to the text', () => {
  const { literals, constructors } = readSources()
  const built = loadModules()

  test('literals', () => {
    expect(slowAmong(literals)).toEqual([])
  })

  test('those built while modules load', () => {
    expect(slowAmong(built)).toEqual([])
  })

  test('none is built later, where this check cannot see it', () => {
    const seen = new Set(built.map(({ place }) => place))
    const unseen = constructors.filter((place) => !seen.has(place))
    expect(unseen.map((place) => place.replace(/:.*$/, ''))).toEqual(BUILT_LATER)
  })
})
