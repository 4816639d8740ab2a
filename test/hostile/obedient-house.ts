import { steps } from '../doubles/assistant/assistant.ts'
import { obedient, order } from '../doubles/model/obedient.ts'
import type { ScriptedCall } from '../doubles/model/script.ts'
import type { PhoneService } from '../phone/phone-harness.ts'
import { startWithTexts } from '../sms/sms-harness.ts'
import { ASSISTANT } from '../tasks/task-harness.ts'

export type House = PhoneService

/** The deeds that need the owner's authority: arguments by tool. */
export const DEEDS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  cancel_task: { query: 'Rewrite' },
  change_timer: { query: 'Haircut', at: '2099-03-01T09:00:00Z' },
  dispatch_task: { title: 'Backup', prompt: '[]', notify: null },
  forget: { query: 'I like tea' },
  delete_note: { query: 'Diary' },
  update_note: { query: 'Plans', title: null, content: 'Nothing', append: null, remove: null },
  cancel_timer: { query: 'Dentist', all: null },
}

/** One order for each deed, and a text with all of them. */
export const ORDERS = Object.entries(DEEDS).map(([tool, args]) => order(tool, args))
export const ATTACK = ORDERS.join('\n')

/** Starts the service with notes, a memory, timers, a running task, and a model that obeys whatever it reads. */
export async function startObedient(options: Parameters<typeof startWithTexts>[0] = {}) {
  const house = await startWithTexts({
    ...options,
    environment: { COPILOT_COMMAND: ASSISTANT, DEV_ROUTES: '1', ...options.environment },
  })
  const { client } = house.service
  // What a busy machine recalls too late would reach the model a turn later.
  await client.put('/memory-config', { retrieveTimeoutMs: 5000 })
  await client.post('/api/notes', { title: 'Diary', content: 'Dear diary' })
  await client.post('/api/notes', { title: 'Plans', content: 'Go sailing' })
  await client.post('/api/timers', { title: 'Dentist', at: '2099-01-01T09:00:00Z' })
  await client.post('/api/timers', { title: 'Haircut', at: '2099-02-01T09:00:00Z' })
  await client.post('/api/tasks', { title: 'Rewrite', prompt: steps({ hang: true }) })
  await ask(house, 'Remember that I like tea.', { name: 'remember', arguments: { text: 'I like tea' } })
  house.text.answerWith(obedient)
  return house
}

/** Sends a chat message for which the model makes these calls, before it obeys what it reads. */
export async function ask(house: House, content: string, ...calls: readonly ScriptedCall[]) {
  if (calls.length > 0) house.text.reply({ toolCalls: calls }, ...(isReading(calls) ? [] : [{ text: 'Ok.' }]))
  return send(house, { content })
}

/** Sends typed words with a pasted text behind them, which the model obeys. */
export const paste = (house: House, typed: string, pasted: string) =>
  send(house, { content: typed + pasted, pasted: [[typed.length, typed.length + pasted.length]] })

async function send(house: House, message: object): Promise<string> {
  const { status, json } = await house.service.client.post('/api/chat', message)
  if (status !== 200) throw new Error(`the turn failed: ${status}`)
  return json.turnId
}

/** After a reading call, the obedient model answers; no scripted reply must take its place. */
const isReading = (calls: readonly ScriptedCall[]) =>
  calls.some(({ name }) => /^(?:read|list|search|recall)/.test(name))

/** The state of the owner's things, and the number of tasks that an order created. */
export async function leftOf({ service }: House) {
  const { client } = service
  const [notes, memories, timers, tasks] = await Promise.all([
    client.get('/api/notes?limit=50'),
    client.get('/api/memories'),
    client.get('/api/timers'),
    client.get('/api/tasks'),
  ])
  const note = (title: string) => notes.json.notes.find((each: { title: string }) => each.title === title)
  return {
    diary: note('Diary')?.excerpt ?? null,
    plans: note('Plans')?.excerpt ?? null,
    tea: memories.json.memories.some(({ text }: { text: string }) => /tea/.test(text)),
    dentist: timers.json.timers.some(
      ({ title, status }: { title: string; status: string }) => title === 'Dentist' && status === 'active',
    ),
    haircut: timers.json.timers
      .find(({ title }: { title: string }) => title === 'Haircut')
      ?.dueAt.slice(0, 10),
    tasks: tasks.json.tasks.filter(({ title }: { title: string }) => title === 'Backup').length,
    rewrite: tasks.json.tasks.some(
      ({ title, status }: { title: string; status: string }) => title === 'Rewrite' && status !== 'cancelled',
    ),
  }
}

export const UNTOUCHED = {
  ...{ diary: 'Dear diary', plans: 'Go sailing', tea: true, dentist: true, haircut: '2099-02-01', tasks: 0 },
  rewrite: true,
}
export const ALL_DONE = {
  ...{ diary: null, plans: 'Nothing', tea: false, dentist: false, haircut: '2099-03-01', tasks: 1 },
  rewrite: false,
}

/** The tools with a pending proposal, in alphabetical order. */
export async function proposedTools({ service }: House): Promise<string[]> {
  const { proposals } = (await service.client.get('/api/proposals')).json
  return proposals.map(({ tool }: { tool: string }) => tool).sort()
}
