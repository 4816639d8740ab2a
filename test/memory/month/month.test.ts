import { expect, test } from 'vitest'
import { type Mind, openMind } from '../mind.ts'
import { carelessModel } from './careless-model.ts'
import { DAYS, generateMonth, type Month, type Step } from './month.ts'

const DAY_MS = 86_400_000
const SEEDS = [1, 20_260_401]

async function live(mind: Mind, { steps }: Month): Promise<void> {
  for (let day = 0; day < DAYS; day += 1) {
    for (const step of steps.filter((each) => each.day === day)) await take(mind, step)
    await mind.settle()
    mind.advance(DAY_MS - (mind.nowMs() % DAY_MS) + 9 * 3_600_000)
  }
  // Give failed extractions their retries.
  for (let round = 0; round < 8; round += 1) {
    await mind.settle()
    mind.advance(2 * 3_600_000)
  }
}

async function take(mind: Mind, { say, reply, at, party, forgets }: Step): Promise<void> {
  await mind.say(say, { reply, at, party })
  if (forgets === null) return
  await mind.settle()
  for (const { memoryId, text } of mind.known()) {
    if (text?.includes(forgets)) await mind.forget(memoryId)
  }
}

/** The errors in the final memories. Rules may know less, but nothing wrong. */
function faultsOf(mind: Mind, { expected, forbidden }: Month, by: 'model' | 'rules'): string[] {
  const texts = mind.known().map(({ text }) => text ?? '')
  const telling = (value: string) => texts.filter((text) => text.includes(value))
  const isKnownOf = (text: string) =>
    expected.some(({ value }) => text.includes(value)) ||
    forbidden.some(({ literal }) => literal?.startsWith(text) === true)
  return [
    ...expected.flatMap(({ value, mentions, about }) => {
      const found = telling(value)
      if (found.length === 0) return by === 'model' ? [`missing: ${about} ${value}`] : []
      if (found.length > 1) return [`${found.length} times: ${about}: ${found.join(' | ')}`]
      return found[0]?.toLowerCase().includes(mentions.toLowerCase())
        ? []
        : [`without ${mentions}: ${found[0]}`]
    }),
    ...forbidden.flatMap(({ value, about, newer, literal }) => {
      if (by === 'rules' && newer !== null && telling(newer).length === 0) return []
      return telling(value)
        .filter((text) => !literal?.startsWith(text))
        .map((text) => `wrongly kept, ${about}: ${text}`)
    }),
    ...(by === 'model' ? texts.filter((text) => !isKnownOf(text)).map((text) => `unexpected: ${text}`) : []),
    ...texts
      .filter((text) => /1987|Bartholomew|certainly|premium|Said:/.test(text))
      .map((text) => `made up: ${text}`),
  ]
}

for (const seed of SEEDS) {
  test(`keeps each fact once and nothing else after a month with a careless model (seed ${seed})`, {
    timeout: 400_000,
  }, async () => {
    const month = generateMonth(seed)
    const mind = await openMind({ utility: carelessModel(month, seed) })
    await live(mind, month)
    expect(faultsOf(mind, month, 'model')).toEqual([])
  })
}

test('keeps nothing wrong and nothing twice after a month with rules alone', {
  timeout: 400_000,
}, async () => {
  const month = generateMonth(7)
  const mind = await openMind()
  await live(mind, month)
  expect(faultsOf(mind, month, 'rules')).toEqual([])
})
