import { type Intent, on, type Reply, type Steps, use, type World } from '../intent.ts'
import { isStatement, tidy } from '../text.ts'
import { wordsOf } from '../words.ts'
import { keep } from './memories.ts'
import { changeTime } from './timers.ts'

type Parts = { readonly right: string; readonly wrong: string | null }

/** Splits "My sister is called Anna, not Anne" into the right and the wrong part. */
function partsOf(words: string): Parts {
  const [, right, wrong = null] =
    /^(.{1,200}?),? (?:and not|not|instead of) (.{1,200})$/.exec(tidy(words)) ?? []
  return right === undefined ? { right: tidy(words), wrong } : { right: tidy(right), wrong }
}

/** Corrects an earlier statement: the time of a timer, or a memory. */
function correct(words: string, world: World): Reply | null {
  const parts = partsOf(words)
  const change = changeTime(parts.right, world)
  if (change) return change
  const statement = isStatement(parts.right) ? parts.right : inPlaceOf(parts, world)
  return statement === null ? null : replace({ ...parts, right: statement })
}

/** Remembers the right statement and forgets the memory that it contradicts, if there is exactly one. */
function* replace({ right, wrong }: Parts): Steps {
  const text = yield* keep(right, 'Corrected')
  if (wrong === null || !text.startsWith('Corrected')) return text
  // Without a query, recall waits until earlier messages are learned.
  yield* use('recall', { query: null })
  const { memories } = yield* use('recall', { query: wrong })
  const [about] = wordsOf(right.replace(/^(?:my|the|our|i|i'm) /i, ''))
  const outdated = memories.filter(({ text: known = '' }) => {
    const words = wordsOf(known)
    return (
      wordsOf(wrong).every((word) => words.includes(word)) &&
      words.includes(about ?? '') &&
      tidy(known) !== right
    )
  })
  const [old, ...others] = outdated
  if (old?.id !== undefined && others.length === 0) yield* use('forget', { query: old.id })
  return text
}

/** "Anna, not Anne": corrects the last statement that contains the wrong words. */
function inPlaceOf({ right, wrong }: Parts, world: World): string | null {
  if (wrong === null) return null
  for (const each of world.conversation.known().toReversed()) {
    const statement = each.text.includes(wrong) ? world.stated(each)?.text : undefined
    if (statement?.includes(wrong)) return tidy(statement.replace(wrong, () => right))
  }
  return null
}

const run = ([words = '']: readonly string[], world: World) => correct(words, world)
const states = ([words = '']: readonly string[]) => partsOf(words).right

export const correctionIntents: readonly Intent[] = [
  on(
    "(?:no|nope|sorry|wait|correction|i meant?|oops|(?:that's )?wrong)[,.:;!]? (?:i meant? )?(?:that )?(.{1,300})",
    run,
    { states },
  ),
  on('(.{3,200}, not .{1,200})', run, { states }),
]
