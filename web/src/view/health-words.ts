import type { Check, CheckName, Reactor } from '../data/health.ts'
import { capitalised, shortDateText, wordsText } from './format.ts'

/** Each check: its name, what it means that it passes, and what it means for the owner that it fails. */
const words: Readonly<Record<CheckName, readonly [name: string, passed: string, failed: string]>> = {
  ledger: ['Ledger', 'Everything that happens is recorded.', 'Delegate cannot record what happens'],
  projections: [
    'Pages',
    'The pages show everything that is recorded.',
    'Some of what the pages show is out of date',
  ],
  settings: ['Settings', 'Settings and sign-ins can be read.', 'Delegate cannot read its settings'],
  reactors: [
    'Background work',
    'What Delegate does by itself gets done.',
    'Some of what Delegate does by itself does not get done',
  ],
  disk: ['Free disk space', 'There is room on the disk.', 'The disk is nearly full'],
  model: ['Model', 'The last answer came.', 'The model service failed to answer'],
  telephony: ['Text messages', 'Text messages are sent.', 'The last text message was not sent'],
}

export const checkName = (name: CheckName) => words[name][0]

/** A check in a sentence: what it means, and what the service says of why and what to do. */
export function checkText({ name, ok, detail }: Check): string {
  const [, passed, failed] = words[name]
  if (ok) return name === 'disk' && detail !== '' ? capitalised(`${detail}.`) : passed
  if (detail === '' || name === 'reactors') return `${failed}.`
  // What the service says is a sentence of its own, or a word or two.
  const why = withTimes(detail)
  if (/\. |\.$/.test(why)) return `${failed}. ${why}`
  return why.includes('(') ? `${failed}: ${why}.` : `${failed} (${why}).`
}

/** The moments of the service's own words, as the owner reads them. */
function withTimes(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) => shortDateText(at))
}

const reactorNames: Readonly<Record<string, string>> = {
  turns: 'Answers to you',
  guests: 'Answers to guests',
  texts: 'Text messages',
  deliveries: 'Deliveries',
  tasks: 'Tasks',
  announcements: 'News of tasks',
  timers: 'Timers',
  learning: 'Learning from what you say',
  erasures: 'Erasing',
  'idle spans': 'Folding what is over',
}

export const reactorName = (name: string) => reactorNames[name] ?? capitalised(wordsText(name))

export function backlogText({ waiting, since }: Reactor): string {
  if (waiting === 0) return 'Nothing waits'
  return since === null ? `${waiting} waiting` : `${waiting} waiting since ${shortDateText(since)}`
}

export function failureText({ lastFailure }: Reactor): string {
  return lastFailure === null ? '' : `Last failure ${shortDateText(lastFailure.at)}: ${lastFailure.message}`
}
