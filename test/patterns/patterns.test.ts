// @module-tag long

import vm from 'node:vm'
import { describe, expect, test } from 'vitest'
import { toPattern } from '../../projections/search-text.ts'
import { type Attack, attacksOn, textOf } from './attacks.ts'
import { type Found, loadModules, readSources } from './collect.ts'

/** No text may block a thread (docs/decisions/0029-linear-patterns.md). */

/** The first text, on which a linear pattern takes no noticeable time. */
const SHORT = { chars: 20_000, limitMs: 5 }
/** The second text, if the first took time: longer than any input that the service reads at once. */
const LONG = { chars: 200_000, limitMs: 200 }
/** A busy machine may be slow once. */
const TRIES = 3

const script = new vm.Script('text.replace(pattern, "")')
const context = vm.createContext({ text: '', pattern: /./ })

/**
 * Whether the engine finishes within the limit in CPU time of this thread, so that other load does not
 * count. V8 can be stopped while it backtracks.
 */
function isQuick(pattern: RegExp, text: string, limitMs: number): boolean {
  Object.assign(context, { text, pattern })
  const before = process.threadCpuUsage()
  try {
    script.runInContext(context, { timeout: LONG.limitMs * 6 })
  } catch {
    // Timed out. The CPU time shows whether the pattern or the machine was slow.
  }
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000 < limitMs
}

/** The words of a search, and the escaped characters of a secret with white space between them. */
const BUILT_LATER = ['projections/search-text.ts', 'src/lib/mask.ts']
/** A text on which the pattern is slow, or undefined. */
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
    ['a repetition retried at each character', /\s+$/],
    ['a search retried at each word', /<data\b[\s\S]*?<\/data>/g],
  ])('finds %s', (_name, pattern) => {
    expect(hostileTo(pattern)).toBeDefined()
  })
})

describe('linear time in the length of the text', () => {
  const { literals, constructors } = readSources()
  const built = loadModules()

  test('holds for literals', () => {
    expect(slowAmong(literals)).toEqual([])
  })

  test('holds for patterns built while modules load', () => {
    expect(slowAmong(built)).toEqual([])
  })

  test('holds for patterns of searches', () => {
    const queries = ['a', 'a ', 'café crème', '"a b a b', '"a a a b" c d', '漢字']
    expect(slowAmong(queries.map((query) => ({ place: query, pattern: toPattern(query) })))).toEqual([])
  })

  test('covers every pattern: none is built later', () => {
    const seen = new Set(built.map(({ place }) => place))
    const unseen = constructors.filter((place) => !seen.has(place))
    expect(unseen.map((place) => place.replace(/:.*$/, ''))).toEqual(BUILT_LATER)
  })
})
