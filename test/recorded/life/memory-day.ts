import type { Day, Life } from './life.ts'
import type { Worth } from './model.ts'

const COFFEE = 'The owner takes their coffee black'
const DOG = 'The owner’s dog is called Rufus'
const BAND = 'The owner plays the flute in a band'

const WORTH: readonly Worth[] = [
  { quote: 'I take my coffee black', kind: 'preference', slot: 'coffee', value: 'black', text: COFFEE },
  {
    quote: 'I take my coffee with milk',
    kind: 'preference',
    slot: 'coffee',
    value: 'with milk',
    text: 'The owner takes their coffee with milk',
    relation: [COFFEE, 'conflict'],
  },
  { quote: 'My dog is called Rufus', kind: 'relation', slot: 'dog', value: 'Rufus', text: DOG },
  {
    quote: 'Rufus is a grey whippet',
    kind: 'relation',
    slot: 'dog',
    value: 'grey whippet',
    text: 'The owner’s dog Rufus is a grey whippet',
    relation: [DOG, 'refine'],
  },
  { quote: 'I play the flute in a band', kind: 'preference', slot: 'music', value: 'flute', text: BAND },
  {
    quote: 'I moved to Lisbon',
    kind: 'identity',
    slot: 'residence',
    value: 'Lisbon',
    text: 'The owner lives in Lisbon',
    singleValued: true,
    relation: ['The owner lives in Porto', 'conflict'],
  },
  {
    quote: 'I am allergic to papaya',
    kind: 'identity',
    slot: 'allergy',
    value: 'papaya',
    text: 'The owner is allergic to papaya',
  },
  {
    quote: 'I am on leave until Wednesday evening',
    kind: 'plan',
    slot: 'leave',
    value: 'until Wednesday evening',
    text: 'The owner is on leave until Wednesday evening',
    validUntil: '2026-11-04T18:00:00.000Z',
  },
  {
    quote: 'I own a submarine',
    kind: 'identity',
    slot: 'boat',
    value: 'submarine',
    text: 'The owner owns a submarine',
  },
  // None of these is a statement of the owner about themselves.
  {
    quote: 'Is my train late',
    kind: 'episode',
    slot: 'train',
    value: 'late',
    text: 'The owner’s train is late',
  },
  { quote: 'I am allergic to papaya', kind: 'identity', slot: 'age', value: '52', text: 'The owner is 52' },
]

/** Learns, recalls, contradicts, refines, forgets and restores memories. */
export async function memoryDay(life: Life): Promise<void> {
  const day = await life.begin('2026-11-03T08:00:00.000Z')
  life.model.worth.push(...WORTH)
  await learned(life, day)
  await recalled(day)
  await restored(day)
  await day.end()
}

async function learned(life: Life, day: Day): Promise<void> {
  await day.say('I take my coffee black. My dog is called Rufus.', { text: 'Noted.' })
  await day.quiet()
  life.model.wakings.push({ text: 'Which is it: black, or with milk?' })
  await day.say('I take my coffee with milk, by the way.', { text: 'With milk.' })
  await day.quiet()
  await day.say('Rufus is a grey whippet.', { text: 'A fine dog.' })
  await day.quiet()
  await day.say('I moved to Lisbon last week.', { text: 'Welcome to Lisbon.' })
  await day.quiet()
  await day.say('I play the flute in a band.', { text: 'How nice.' })
  await day.say('I am allergic to papaya. I am on leave until Wednesday evening.', { text: 'Enjoy it.' })
  await day.quiet()
  await day.say('As I said, I am allergic to papaya.', { text: 'I know.' })
  await day.say('Is my train late?', { text: 'I cannot tell.' })
  await day.quiet()
  await day.say('I own a submarine.', { text: 'Do you?' })
  await day.quiet()
  await day.say('Just kidding!', { text: 'I thought so.' })
  await day.quiet()
  // A failed extraction is retried later.
  life.model.readings.push({ text: 'this is no JSON' })
  await day.say('The weather is fine.', { text: 'It is.' })
  await day.seen('memory.extraction.failed')
  day.clock.pass(120_000)
  await day.say('It still is.', { text: 'Good.' })
  await day.quiet()
}

async function recalled(day: Day): Promise<void> {
  await day.post('/api/conversations/unknown/end', {}, [404])
  const [{ id }] = (await day.client.get('/api/conversations')).json.conversations
  await day.post(`/api/conversations/${id}/end`)
  await day.say('What is my dog called, and what do I play in the band?', {
    text: 'Your dog is Rufus, a grey whippet; you play the flute.',
  })
  await day.quiet()
  // Limits injection to one memory with few words.
  await day.send('PUT', '/memory-config', { maxInjectedMemories: 1, contextTurns: 1 })
  await day.say('My dog, my band, my coffee, my allergy: what do you know of them?', { text: 'A lot.' })
  await day.quiet()
  // Recall is too slow for its turn but in time for the next.
  await day.send('PUT', '/memory-config', { retrieveTimeoutMs: 1, maxInjectedMemories: 12 })
  for (const what of ['dog', 'band', 'coffee', 'allergy'])
    await day.say(`Tell me again about my ${what}.`, { text: 'Well.' })
  await day.send('PUT', '/memory-config', { retrieveTimeoutMs: 5000 })
  await day.say(
    'What do you remember of papaya?',
    { toolCalls: [{ name: 'recall', arguments: { query: 'papaya' } }] },
    { text: 'You are allergic to it.' },
  )
  await day.quiet()
}

/** Restores a memory that a newer one had overridden. */
async function restored(day: Day): Promise<void> {
  const overridden = await day.seen('memory.overridden')
  await day.post(`/api/memories/${overridden.payload.memoryId}/restore`)
  const { memories } = (await day.client.get('/api/memories?limit=200')).json
  const locker = memories.find(({ text }: { text: string }) => text.includes('locker'))
  await day.send('DELETE', `/api/memories/${locker.id}`)
}
