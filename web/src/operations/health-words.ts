import type { Health, Reactor } from '../../../src/http/contract/health.ts'
import type { Check, CheckName } from '../api/health.ts'
import { capitalised, shortDateText, wordsText } from '../design/format.ts'
import { msg } from '../design/msg.ts'

/** Each check: its name, and its meaning for the owner when it passes and when it fails. */
const words: Readonly<Record<CheckName, readonly [name: string, passed: string, failed: string]>> = {
  ledger: [msg`Ledger`, msg`Everything that happens is recorded.`, msg`Delegate cannot record what happens`],
  postgres: ['PostgreSQL', msg`PostgreSQL has the ledger.`, msg`PostgreSQL does not have the whole ledger`],
  projections: [msg`Pages`, msg`The pages are up to date.`, msg`Some pages are out of date`],
  settings: [msg`Settings`, msg`Settings and sign-ins can be read.`, msg`Delegate cannot read its settings`],
  secrets: [msg`Secrets`, msg`Keys and tokens can be read.`, msg`Some keys and tokens cannot be read`],
  reactors: [msg`Background work`, msg`Everything is running.`, msg`Some background work is failing`],
  disk: [msg`Free disk space`, msg`Enough disk space is free.`, msg`The disk is nearly full`],
  model: [msg`Model`, msg`The model service responds.`, msg`The last request to the model service failed`],
  backups: [msg`Backups`, msg`The last backup is recent.`, msg`Backups need your attention`],
  telephony: [msg`Text messages`, msg`Text messages can be sent.`, msg`The last text message was not sent`],
}

export const checkName = (name: CheckName) => words[name][0]

/** A check as a sentence: what it means, followed by the service's detail about cause and remedy. */
export function checkText({ name, ok, detail }: Check): string {
  const [, passed, failed] = words[name]
  if ((name === 'postgres' || name === 'backups') && detail !== '') return withTimes(detail)
  if (ok && name === 'model' && detail.startsWith('builtin/'))
    return msg`The builtin model answers, without a model service.`
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
    sound: msg`and is undamaged`,
    damaged: msg`and is damaged`,
    failed: msg`but this failed; the log says why`,
  }
  return msg`The whole ledger was last verified on ${shortDateText(at)}, ${found[outcome]}.`
}

const reactorNames: Readonly<Record<string, string>> = {
  turns: msg`Replies to you`,
  guests: msg`Replies to guests`,
  texts: msg`Text messages`,
  deliveries: msg`Deliveries`,
  tasks: msg`Tasks`,
  announcements: msg`Task announcements`,
  timers: msg`Reminders`,
  learning: msg`Learning memories`,
  erasures: msg`Erasures`,
  backups: msg`Backups`,
  imports: msg`Imports`,
  'idle spans': msg`Closing idle exchanges`,
}

export const reactorName = (name: string) => reactorNames[name] ?? capitalised(wordsText(name))

export function backlogText({ waiting, since }: Reactor): string {
  if (waiting === 0) return msg`Nothing waiting`
  return since === null ? msg`${waiting} waiting` : msg`${waiting} waiting since ${shortDateText(since)}`
}

export function failureText({ lastFailure }: Reactor): string {
  return lastFailure === null
    ? ''
    : msg`Last failure ${shortDateText(lastFailure.at)}: ${lastFailure.message}`
}

const delays: Readonly<Record<string, string>> = {
  unavailable: msg`the provider does not answer`,
  rate_limited: msg`the provider is rate limiting`,
  credentials: msg`the provider rejects the credentials`,
  budget: msg`the daily limit is reached`,
}

/** Why text messages are delayed, as the end of a sentence. */
export const delayText = (kind: string | null): string => delays[kind ?? ''] ?? msg`they cannot be sent`
