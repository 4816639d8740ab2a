import type { Done } from '../conversation.ts'
import type { Reply, World } from '../intent.ts'
import { wordsOf } from '../words.ts'
import { choicesIn, forgetWords } from './memories.ts'
import { changeNote, readNote, removeNote } from './notes.ts'
import { cancelTimers, lineOf } from './timers.ts'

/** Takes "the second one" or "the Cardiff one" as the answer to which of several was meant; null for anything else. */
export function choose(text: string, world: World): Reply | null {
  const done = world.conversation.past[0]?.done.at(-1)
  if (done?.name === 'list_timers') return chooseTimer(text, done, world)
  if (done?.outcome.reason !== 'ambiguous') return null
  const choices = choicesIn(done.outcome, world.present)
  const choice =
    choices[
      pick(
        text,
        choices.map(({ told }) => told),
      )
    ]
  return choice === undefined ? null : (AGAIN[done.name]?.(choice.text, world, done.args) ?? null)
}

const AGAIN: Readonly<Record<string, (query: string, world: World, args: Done['args']) => Reply>> = {
  forget: forgetWords,
  read_note: readNote,
  delete_note: removeNote,
  update_note: (query, _world, args) => changeNote(query, args),
}

function chooseTimer(text: string, done: Done, { present, conversation }: World): Reply | null {
  const lines = (conversation.past[0]?.reply ?? '').split('\n').filter((line) => line.startsWith('- '))
  const timers = done.outcome.timers.filter((timer) => lines.includes(`- ${lineOf(timer, present)}`))
  const id =
    lines.length < 2
      ? undefined
      : timers[
          pick(
            text,
            timers.map((timer) => lineOf(timer, present)),
          )
        ]?.id
  return id === undefined ? null : cancelTimers([id])
}

const ORDINALS = [
  /\b(?:first|1st|1)\b/i,
  /\b(?:second|2nd|2)\b/i,
  /\b(?:third|3rd|3)\b/i,
  /\b(?:fourth|4th|4)\b/i,
]
const NO_CHOICE =
  /^(?:the|one|that|this|a|an|i|mean|my|of|about|with|to|it|please|for|in|at|forget|cancel|number)$/

/** The index of the option that an answer means; -1 where it is none, or not one alone. */
function pick(answer: string, options: readonly string[]): number {
  if (answer.length > 100) return -1
  const words = wordsOf(answer).filter((word) => !NO_CHOICE.test(word))
  const held = options.map(
    (option) => words.length > 0 && words.every((word) => wordsOf(option).includes(word)),
  )
  if (held.filter(Boolean).length === 1) return held.indexOf(true)
  if (/\blast\b|\blatter\b/i.test(answer)) return options.length - 1
  const ordinal = ORDINALS.findIndex((pattern) => pattern.test(answer))
  return ordinal < options.length && words.length <= 2 ? ordinal : -1
}
