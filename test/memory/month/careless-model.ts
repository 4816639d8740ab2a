import type { Candidate } from '../../../src/memory/learn/candidate.ts'
import { ModelError } from '../../../src/model/port.ts'
import { createRandom } from '../../support/random.ts'
import { type ScriptedModel, type Shown, scriptedModel } from '../scripted-model.ts'
import type { Month, Reading, Step } from './month.ts'

const JUNK: readonly string[] = [
  'Enjoys long walks',
  'Is a premium customer',
  'Prefers concise answers',
  'User asked a question',
  '',
]

/**
 * A model that finds what is right, along with typical errors: unsupported readings, junk, invented quotes,
 * numbers and ids, repetitions of itself, and the delegate's words. At times it answers malformed, fails,
 * or does not answer for a while.
 */
export function carelessModel(month: Month, seed: number): ScriptedModel {
  const random = createRandom(seed)
  const bySaying = new Map<string, Step>(month.steps.map((step) => [step.say, step]))

  return scriptedModel(async (shown) => {
    if (random.chance(0.04)) return { raw: { candidates: 'none that I know of' } }
    if (random.chance(0.04)) return new ModelError('rate_limited', 'too many requests')
    // Late enough for the conversation to have moved on.
    if (random.chance(0.1)) await new Promise((resolve) => setTimeout(resolve, 40))
    const candidates = shown.turns.flatMap(({ text, quotable, speaker }) => {
      const step = bySaying.get(text)
      if (speaker === 'owner' && quotable && step) return readingsOf(step, shown)
      // A careless model also reads the context and the delegate's words.
      return step && random.chance(0.3) ? readingsOf(step, shown) : []
    })
    const said = shown.turns.filter(({ speaker }) => speaker === 'delegate')
    if (said.length > 0 && random.chance(0.3)) {
      const { text } = random.pick(said)
      candidates.push({ text: `Said: ${text}`, quote: text, slot: 'saying', value: text })
    }
    if (random.chance(0.3)) candidates.push({ text: random.pick(JUNK), quote: random.pick(shown.turns).text })
    return random.shuffled(candidates)
  })

  function readingsOf({ right, wrong }: Step, shown: Shown): Partial<Candidate>[] {
    return [
      ...right.flatMap((reading) => withMistakes(candidateOf(reading, shown), reading)),
      ...wrong.map((reading) => candidateOf(reading, shown)),
    ]
  }

  function withMistakes(good: Partial<Candidate>, { value }: Reading): Partial<Candidate>[] {
    const all = [good]
    if (random.chance(0.2)) all.push(good)
    if (random.chance(0.2)) all.push({ ...good, relations: [{ memoryId: 'nobody-s-id', relation: 'same' }] })
    if (random.chance(0.2))
      all.push({ ...good, quote: `Well, ${value} it certainly is`, text: `${good.text}, certainly` })
    if (random.chance(0.2))
      all.push({ ...good, text: `${good.text}, since 1987`, slot: `${good.slot} since` })
    if (random.chance(0.2))
      all.push({ ...good, text: `${good.text}, with Bartholomew`, slot: `${good.slot} with` })
    return all
  }

  function candidateOf(reading: Reading, { memories }: Shown): Partial<Candidate> {
    const { text, quote, slot, value, subject, kind = 'identity', single, relation } = reading
    const known =
      relation === null ? undefined : memories.findLast((memory) => memory.text.includes(relation.to))
    return {
      text,
      quote,
      slot,
      value,
      subject,
      kind,
      singleValued: single,
      relations: known && relation ? [{ memoryId: known.id, relation: relation.as }] : [],
    }
  }
}
