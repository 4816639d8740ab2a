import { expect } from 'vitest'
import { steps } from '../doubles/assistant/assistant.ts'
import type { RecordedRequest } from '../doubles/model/model-double.ts'
import { script, speech } from '../phone/call/call-harness.ts'
import { startWithTexts } from '../sms/sms-harness.ts'
import { ASSISTANT } from '../tasks/task-harness.ts'

const PACKING = `# Packing for Lisbon

- [x] Passport, cards
- [ ] Rain jacket, the *blue* one
- [ ] Chargers

> The train to the airport leaves at **6:12**.

\`\`\`ts
const daysLeft = (date: Date) => Math.ceil((date.getTime() - Date.now()) / 86_400_000)
\`\`\`

| Day | Plan |
|---|---|
| Friday | Alfama, dinner with Mira |
| Saturday | Sintra |
`
const SPOKEN_REPLY = { audio: speech('reply-train'), transcript: 'Your train leaves at nine fifteen.' }

/** The owner's question about the finished tasks, and the model's answer. */
export const QUESTION = 'And the photos?'
export const ANSWER = 'All 1,204 of them, in 11 folders.'

/** The memories that the model extracts: quote, kind, slot, value, statement. */
const MEMORIES = [
  ['I live in Porto', 'identity', 'residence', 'Porto', 'The owner lives in Porto'],
  ['I take my coffee black', 'preference', 'coffee', 'black', 'The owner takes their coffee black'],
  ['My sister is called Ada', 'identity', "sister's name", 'Ada', 'The owner’s sister is called Ada'],
  ["I'm allergic to papaya", 'identity', 'allergy', 'papaya', 'The owner is allergic to papaya'],
] as const

function remember({ text, body }: RecordedRequest) {
  const format = (body.text as { format?: { name?: unknown } } | undefined)?.format
  const said = format?.name === 'memory_candidates' ? MEMORIES.filter(([quote]) => text.includes(quote)) : []
  const candidates = said.map(([quote, kind, slot, value, statement]) => ({
    ...{ kind, subject: 'owner', slot, value, text: statement, quote, singleValued: false },
    ...{ modality: 'asserted', speaker: 'owner', secrecy: 'keep', ends: null },
    ...{ eventTime: null, validUntil: null, relations: [] },
  }))
  return { text: JSON.stringify({ candidates }) }
}

/** Starts a service in everyday use: chat, memories, notes, timers, tasks in every state, and a log. */
export async function startHouse() {
  const phone = await startWithTexts({
    environment: { COPILOT_COMMAND: ASSISTANT, TASK_ISOLATION: 'auto' },
    script: script({ reply: () => SPOKEN_REPLY }),
    factor: 1,
  })
  const { service, text: model } = phone
  const { client } = service
  model.answerMemoryWith(remember)
  // First it announces the two outcomes, then it answers the question.
  const announcements = [
    'The build has to wait: it needs a newer compiler.',
    'Your photos are sorted now, by year.',
  ]
  model.answerWith(({ text }) => ({
    text: text.includes(QUESTION) ? ANSWER : (announcements.shift() ?? ANSWER),
  }))
  const post = async (path: string, body: object) => {
    const answer = await client.post(path, body)
    if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`)
    return answer.json
  }
  const say = async (content: string, text: string) => {
    model.reply({ text })
    await post('/api/chat', { content })
  }
  await say('I live in Porto, and I take my coffee black.', 'Good to know.')
  await say('My sister is called Ada. She lives in Graz.', 'I will remember Ada.')
  await say("I'm allergic to papaya.", 'No papaya, then.')
  await say(
    'We are off to Lisbon on the 12th. What should I think of?',
    'A short list:\n\n1. **Passport and cards**: yours is valid until March.\n2. A rain jacket: April is wet there.\n3. The 6:12 train to the airport.\n\nShall I keep it as a note?',
  )
  await say('Yes, please.', 'Done: it is in “Packing for Lisbon”.')
  const note = await post('/api/notes', { title: 'Packing for Lisbon', content: PACKING })
  await post('/api/notes', { title: 'Garden', content: 'Prune the roses in **February**; sow beans in May.' })
  await post('/api/timers', { title: 'Water the plants', recurrence: '5 9 * * 1-5' })
  await post('/api/timers', { title: 'Check in for Lisbon', at: '2031-04-11T08:00' })
  await post('/api/adaptations/brief', {
    title: 'Be brief',
    content: 'Answer in at most three sentences unless I ask for more.',
    channels: ['chat', 'sms'],
  })
  await post('/api/adaptations/mornings', {
    title: 'Mornings',
    content: 'Before nine, begin with the weather and what is due today.',
    enabled: false,
  })
  const done = steps({ print: 'Sorted 1,204 photos into 11 folders, by year. Nothing was deleted.' })
  await post('/api/tasks', { title: 'Tidy the photo folder', prompt: done })
  const broken = steps({ complain: 'The build needs a newer compiler.' }, { exit: 2 })
  await post('/api/tasks', { title: 'Mend the build', prompt: broken })
  const unfinished = steps(
    { report: 'postToolUse', payload: { toolName: 'bash', toolArgs: { command: 'npm test' } } },
    { hang: true },
  )
  await post('/api/tasks', { title: 'Upgrade the blog', prompt: unfinished })
  service.log.warn({ attempt: 2 }, 'the model service was slow to answer')
  service.log.error({ path: '/sms', status: 403 }, 'a request with a bad signature was refused')
  // Waits for background work, so that nothing moves on the page during a check.
  await settled('tasks that are running, or finished and delivered', async () => {
    const { tasks } = (await client.get('/api/tasks')).json
    const isAtRest = ({ status, deliveryState }: { status: string; deliveryState: string }) =>
      status === 'running' || (status !== 'queued' && deliveryState !== 'pending')
    return tasks.length === 3 && tasks.every(isAtRest)
  })
  await settled('the memories', async () => (await client.get('/api/memories')).json.count >= 2)
  return { ...phone, model, noteId: String(note.id) }
}

export type House = Awaited<ReturnType<typeof startHouse>>

async function settled(what: string, condition: () => Promise<boolean>): Promise<void> {
  await expect.poll(condition, { message: what }).toBe(true)
}
