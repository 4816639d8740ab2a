import { type ResolvedDate, resolveDates } from '../../../text/dates.ts'
import type { Candidate } from '../candidate.ts'
import { cleanValue } from './rule.ts'

const EVENT =
  "(?:(?:next|first|second|final|doctor's|dentist'?s?|job|driving|yearly|annual|big|team|weekly|monthly|video|phone|follow-up) ){0,4}(?:appointment|meeting|interview|exam|test|flight|train|bus|ferry|trip|holiday|vacation|wedding|surgery|operation|check-?up|party|concert|conference|call|dinner|lunch|breakfast|date|deadline|delivery|class|course|race|marathon|match|game|hearing|reservation|booking|viewing|ceremony|graduation|move|visit|presentation|talk|haircut|lesson|session|show|reunion|anniversary dinner)"

const NAMED_EVENT = new RegExp(EVENT, 'iu')

const PLANS: readonly RegExp[] = [
  new RegExp(
    `^(?:i|we)(?: have|'ve got| have got|'ve)? (?:booked |scheduled |got )?(?:an?|my|our|the|another) (?<value>(?:[\\p{L}'-]+ ){0,3}?${EVENT}\\b.*)$`,
    'isu',
  ),
  new RegExp(
    `^(?:my|our|the) (?<value>(?:[\\p{L}'-]+ ){0,2}?${EVENT}\\b.*? (?:is|leaves|departs|starts|begins|arrives|takes place|got moved to|was moved to|moved to|has been moved to|is moved to) .+)$`,
    'isu',
  ),
  /^(?:i'm|i am|we're|we are|i'll be|we'll be) (?<value>(?:flying|going|travell?ing|driving|meeting|visiting|seeing|leaving|starting|moving|attending|running|speaking|getting|taking|having|hosting|giving|off) .+)$/iu,
]

/** A plan expires this long after its event time. */
const OVER_AFTER_MS = 36 * 60 * 60_000

/** A plan with its date; null if no future date is given. */
export function planIn(
  statement: string,
  options: { readonly at: string; readonly timezone: string },
): Pick<Candidate, 'kind' | 'slot' | 'value' | 'eventTime' | 'validUntil'> | null {
  const value = PLANS.map((pattern) => pattern.exec(statement)?.groups?.value).find(
    (found) => found !== undefined,
  )
  const clean = value === undefined ? null : cleanValue(value)
  if (clean === null) return null
  const date = dateToCome(statement, options)
  if (!date) return null
  const event = NAMED_EVENT.exec(clean)?.[0] ?? clean.split(' ')[0] ?? 'plan'
  return {
    kind: 'plan',
    slot: event.toLowerCase(),
    value: clean,
    eventTime: new Date(date.instantMs).toISOString(),
    validUntil: new Date(date.instantMs + OVER_AFTER_MS).toISOString(),
  }
}

function dateToCome(
  statement: string,
  { at, timezone }: { at: string; timezone: string },
): ResolvedDate | null {
  const said = { at: new Date(at), timezone, language: 'en' } as const
  const isAhead = ({ hasDay, instantMs }: ResolvedDate) =>
    hasDay && instantMs > said.at.getTime() - 12 * 60 * 60_000
  return resolveDates(statement, said).find(isAhead) ?? null
}
