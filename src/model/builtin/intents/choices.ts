import type { Reply, World } from '../intent.ts'
import { WHICH_ONE } from '../wording.ts'
import { wordsOf } from '../words.ts'
import { choicesIn, forgetWords } from './memories.ts'
import { cancelTimer, lineOf } from './timers.ts'

/** Handles "the second one" or "the Cardiff one" after “Which one do you mean?”; null for anything else. */
export function choose(text: string, world: World): Reply | null {
  const [last] = world.conversation.past
  if (!last?.reply.startsWith(WHICH_ONE)) return null
  const options = last.reply.split('\n- ').slice(1)
  const index = pick(text, options)
  const { name, outcome } = last.done.at(-1) ?? {}
  if (name === 'forget' && outcome) {
    const choice = choicesIn(outcome, world.present)[index]
    return choice ? forgetWords(choice.text, world) : null
  }
  const id = outcome?.timers.find((timer) => lineOf(timer, world.present) === options[index])?.id
  return id === undefined ? null : cancelTimer(id)
}

const ORDINALS = [/\b(?:first|1(?:st)?)\b/i, /\b(?:second|2(?:nd)?)\b/i, /\b(?:third|3(?:rd)?)\b/i]
const NO_CHOICE =
  /^(?:the|one|that|this|a|an|i|mean|my|of|about|with|to|it|please|for|in|at|forget|cancel|number)$/

/** The index of the chosen option; -1 unless exactly one matches. */
function pick(answer: string, options: readonly string[]): number {
  if (answer.length > 100) return -1
  const words = wordsOf(answer).filter((word) => !NO_CHOICE.test(word))
  const meant = options.filter((option) => words.every((word) => wordsOf(option).includes(word)))
  if (words.length > 0 && meant.length === 1) return options.indexOf(meant[0] ?? '')
  if (words.length > 2) return -1
  return /\b(?:last|latter)\b/i.test(answer)
    ? options.length - 1
    : ORDINALS.findIndex((pattern) => pattern.test(answer))
}
