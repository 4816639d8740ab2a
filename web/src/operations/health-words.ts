import type { Health, Reactor } from '../../../src/http/contract/health.ts'
import type { Check, CheckName } from '../api/health.ts'
import { capitalised, shortDateText, wordsText } from '../design/format.ts'

/** Each check: its name, and its meaning for the owner when it passes and when it fails. */
const words: Readonly<Record<CheckName, readonly [name: string, passed: string, failed: string]>> = {
  ledger: ['Ledger', 'Everything that happens is recorded.', 'Delegate cannot record what happens'],
  postgres: ['PostgreSQL', 'PostgreSQL has the ledger.', 'PostgreSQL does not have the whole ledger'],
  projections: ['Pages', 'The pages are up to date.', 'Some pages are out of date'],
  settings: ['Settings', 'Settings and sign-ins can be read.', 'Delegate cannot read its settings'],
  reactors: ['Background work', 'Everything is running.', 'Some background work is failing'],
  disk: ['Free disk space', 'Enough disk space is free.', 'The disk is nearly full'],
  model: ['Model', 'The model service responds.', 'The last request to the model service failed'],
  backups: ['Backups', 'The last backup is recent.', 'Backups need your attention'],
  telephony: ['Text messages', 'Text messages can be sent.', 'The last text message was not sent'],
}

export const checkName = (name: CheckName) => words[name][0]

/** A check as a sentence: what it means, followed by the service's detail about cause and remedy. */
export function checkText({ name, ok, detail }: Check): string {
  const [, passed, failed] = words[name]
  if ((name === 'postgres' || name === 'backups') && detail !== '') return withTimes(detail)
  if (ok) return name === 'disk' && detail !== '' ? capitalised(`${detail}.`) : passed
  if (detail === '' || name === 'reactors') return `${failed}.`
  // The detail is either whole sentences or a few words.
  const why = withTimes(detail)
  if (/\. |\.$/.test(why)) return `${failed}. ${why}`
  return why.includes('(') ? `${failed}: ${why}.` : `${failed} (${why}).`
}

/** Replaces ISO 8601 times by times in the owner's time zone. */
function withTimes(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) => shortDateText(at))
}

/** The last verification of the whole ledger, which repeats every week. */
export function verifiedText({ at, outcome }: NonNullable<Health['verified']>): string {
  const found = {
    sound: 'and is undamaged',
    damaged: 'and is damaged',
    failed: 'but this failed; the log says why',
  }
  return `The whole ledger was last verified on ${shortDateText(at)}, ${found[outcome]}.`
}

const reactorNames: Readonly<Record<string, string>> = {
  turns: 'Replies to you',
  guests: 'Replies to guests',
  texts: 'Text messages',
  deliveries: 'Deliveries',
  tasks: 'Tasks',
  announcements: 'Task announcements',
  timers: 'Reminders',
  learning: 'Learning memories',
  erasures: 'Erasures',
  backups: 'Backups',
  'idle spans': 'Closing idle exchanges',
}

export const reactorName = (name: string) => reactorNames[name] ?? capitalised(wordsText(name))

export function backlogText({ waiting, since }: Reactor): string {
  if (waiting === 0) return 'Nothing waiting'
  return since === null ? `${waiting} waiting` : `${waiting} waiting since ${shortDateText(since)}`
}

export function failureText({ lastFailure }: Reactor): string {
  return lastFailure === null ? '' : `Last failure ${shortDateText(lastFailure.at)}: ${lastFailure.message}`
}

const delays: Readonly<Record<string, string>> = {
  unavailable: 'the provider does not answer',
  rate_limited: 'the provider is rate limiting',
  credentials: 'the provider rejects the credentials',
  budget: 'the daily limit is reached',
}

/** Why text messages are delayed, as the end of a sentence. */
export const delayText = (kind: string | null): string => delays[kind ?? ''] ?? 'they cannot be sent'
