import { createRandom } from '../../support/random.ts'
import { FACTS, type FactKind, OF_OTHERS, type Wording } from './facts.ts'
import { createValues } from './pools.ts'
import { TRAPS } from './traps.ts'

/** What a model may extract from a message. */
export type Reading = {
  readonly text: string
  readonly quote: string
  readonly slot: string
  readonly value: string
  readonly subject: string
  readonly kind: FactKind['kind']
  readonly single: boolean
  /** The older memory that it repeats or corrects, identified by its value. */
  readonly relation: { readonly to: string; readonly as: 'same' | 'conflict' } | null
}

export type Step = {
  readonly day: number
  readonly about: string
  readonly say: string
  readonly reply: string
  readonly at: 'chat' | 'sms' | 'voice'
  readonly party: 'owner' | 'guest'
  /** The right readings. */
  readonly right: readonly Reading[]
  /** The readings of a careless model. */
  readonly wrong: readonly Reading[]
  /** The owner forgets this value after the step. */
  readonly forgets: string | null
}

/** One memory that must exist in the end, with these words. */
export type Expected = { readonly value: string; readonly mentions: string; readonly about: string }

export type Forbidden = {
  readonly value: string
  readonly about: string
  /** The correction of this value. Without it, a model cannot know that the value is outdated. */
  readonly newer: string | null
  /** The message, where storing it literally would be right. */
  readonly literal: string | null
}

/** Traps whose words are literally true: the error is to store less than they say. */
const TRUE_TO_THE_LETTER: ReadonlySet<string> = new Set(['negation', 'past', 'third person', 'uncertain'])

export type Month = {
  readonly steps: readonly Step[]
  readonly expected: readonly Expected[]
  /** Values that no memory may hold in the end, and why. */
  readonly forbidden: readonly Forbidden[]
}

export const DAYS = 60
const SMALL_TALK: readonly string[] = [
  'Good morning!',
  'What should I cook tonight?',
  'Thanks, that helps.',
  'How long does it take to boil an egg?',
  'Ok.',
  'Danke, das reicht.',
  'Merci beaucoup !',
  'Tell me a story about a lighthouse.',
  'Never mind.',
  '谢谢',
  'Спасибо!',
]
const REPLIES: readonly string[] = [
  'All right.',
  'Noted.',
  'Good to know.',
  'I see.',
  'Thank you for telling me.',
]

/** Sixty days of dialogue, determined by the seed. */
export function generateMonth(seed: number): Month {
  const random = createRandom(seed)
  const values = createValues(random)
  const steps: Step[] = []
  const expected: Expected[] = []
  const forbidden: Forbidden[] = []
  const channels = ['chat', 'chat', 'chat', 'sms', 'voice'] as const

  function step(day: number, about: string, say: string, more: Partial<Step> = {}): void {
    steps.push({
      day,
      about,
      say,
      reply: random.pick(REPLIES),
      at: random.pick(channels),
      party: 'owner',
      right: [],
      wrong: [],
      forgets: null,
      ...more,
    })
  }

  const fill = (template: string, value: string) => template.replaceAll('{v}', value)

  function reading(
    wording: Pick<Wording, 'say' | 'quote' | 'text'>,
    fact: Pick<FactKind, 'slot' | 'subject' | 'kind' | 'single'>,
    value: string,
    relation: Reading['relation'] = null,
  ): Reading {
    return {
      text: fill(wording.text, value),
      quote: fill(wording.quote ?? wording.say, value),
      slot: fact.slot,
      value,
      subject: fact.subject ?? 'owner',
      kind: fact.kind,
      single: fact.single === true,
      relation,
    }
  }

  function state(
    day: number,
    about: string,
    wording: Wording,
    fact: FactKind,
    value: string,
    relation: Reading['relation'] = null,
  ) {
    step(day, about, fill(wording.say, value), { right: [reading(wording, fact, value, relation)] })
  }

  /** States a fact once, then repeats it literally and in other words on later days. */
  function live(fact: FactKind, mentions = ''): void {
    const value = values.take(fact.pool)
    const start = random.below(20)
    const first = random.pick(fact.first)
    state(start, 'told', first, fact, value)
    if (random.chance(0.5)) state(start + 1 + random.below(8), 'repeated', first, fact, value, same(value))
    if (fact.again.length > 0 && random.chance(0.7))
      state(start + 10 + random.below(8), 'paraphrased', random.pick(fact.again), fact, value, same(value))
    const fate = random.below(10)
    if (fact.corrected && fate < 5 && values.has(fact.pool)) {
      const next = values.take(fact.pool)
      const day = start + 20 + random.below(8)
      // A model may miss what it corrects, but a single-valued slot holds only the newer value.
      const relation = random.chance(0.7) ? ({ to: value, as: 'conflict' } as const) : null
      state(day, 'corrected', random.pick(fact.corrected), fact, next, relation)
      forbidden.push({ value, about: `corrected (${fact.slot})`, newer: next, literal: null })
      expected.push({ value: next, mentions, about: fact.slot })
      if (fact.again.length > 0 && random.chance(0.5))
        state(day + 1 + random.below(8), 'paraphrased', random.pick(fact.again), fact, next, same(next))
    } else if (fate === 9) {
      const day = start + 20 + random.below(8)
      step(day, 'forgotten', 'I changed my mind about something I told you.', { forgets: value })
      forbidden.push({ value, about: `forgotten (${fact.slot})`, newer: null, literal: null })
    } else expected.push({ value, mentions, about: fact.slot })
  }

  for (const fact of FACTS) live(fact)
  for (const { mentions, wrong, ...fact } of OF_OTHERS) {
    const value = values.take(fact.pool)
    const wording = random.pick(fact.first)
    const owners = { ...fact, subject: 'owner' }
    step(random.below(DAYS), 'of somebody else', fill(wording.say, value), {
      right: [reading(wording, fact, value)],
      wrong: [reading({ ...wording, text: wrong }, owners, value)],
    })
    expected.push({ value, mentions, about: `${fact.subject}'s ${fact.slot}` })
  }
  for (const trap of random.shuffled(TRAPS)) {
    if (!values.has(trap.pool)) continue
    const value = values.take(trap.pool)
    const day = random.below(DAYS - 1)
    step(day, trap.about, fill(trap.say, value), {
      ...(trap.party ? { party: trap.party } : {}),
      ...(trap.reply ? { reply: fill(trap.reply, value) } : {}),
      wrong: [
        reading(
          { say: trap.say, ...(trap.quote ? { quote: trap.quote } : {}), text: trap.wrong },
          { slot: trap.about },
          value,
        ),
      ],
    })
    if (trap.next) step(day, 'taken back', trap.next, { at: 'chat' })
    const literal = TRUE_TO_THE_LETTER.has(trap.about) ? fill(trap.say, value) : null
    forbidden.push({ value, about: `${trap.about}: ${trap.say}`, newer: null, literal })
  }
  for (let day = 0; day < DAYS; day += 1) step(day, 'small talk', random.pick(SMALL_TALK))
  // The sort is stable: it keeps the order within a day.
  const ordered = steps
    .map((each, index) => ({ each, index }))
    .sort((a, b) => a.each.day - b.each.day || a.index - b.index)
  return { steps: ordered.map(({ each }) => each), expected, forbidden }
}

function same(value: string): Reading['relation'] {
  return { to: value, as: 'same' }
}
