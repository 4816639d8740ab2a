import { knownZone } from '../../../clock/date-format.ts'
import { tellMoment } from '../local-time.ts'
import { call, type Plan, say } from '../plan.ts'
import { firstOf, type Rule, rule } from './rules.ts'

/** "Tokyo" as the zone Asia/Tokyo; null for a place that names no zone. */
function zoneOf(place: string): string | null {
  const wanted = place.trim().replace(/\s+/g, '_').toLowerCase()
  if (/^(?:utc|gmt)$/.test(wanted)) return 'UTC'
  return (
    Intl.supportedValuesOf('timeZone').find((zone) => zone.toLowerCase().split('/').at(-1) === wanted) ?? null
  )
}

function timeIn(place: string, now: Date): Plan | null {
  const zone = zoneOf(place)
  return zone === null ? null : say(`In ${place.trim()} it is ${tellMoment(now, zone)}.`)
}

const now = () => call('current_time', {})

export const clockRule: Rule = firstOf([
  rule(
    /^(?:do you know |tell me |say )?(?:what(?:'s| is| was)? (?:the )?(?:current |exact |local )?(?:time|date|day)(?: of (?:the )?(?:week|month))?|what time (?:is it|it is)|what day (?:is it|it is|is today|is this)|what(?:'s| is) today(?:'s date)?|what(?:'s| is) the date today|what (?:date|year|month|week ?day) (?:is it|is this|it is)|(?:the )?(?:current )?(?:time|date)(?: and (?:the )?(?:date|time))?|today's date|how late is it|got the time)(?: (?:is it|it is))?(?: right)?(?: now| today| here| please)*[?.! ]*$/i,
    now,
  ),
  rule(
    /^what(?:'s| is)? (?:the )?(?:current |local )?time(?: is it)?(?: right)?(?: now)? in ([\p{L} .'-]{2,40}?)(?: right)?(?: now)?[?.! ]*$/iu,
    ([place = ''], { present }) => timeIn(place, present.now),
  ),
  rule(
    /^(?:what|which)(?:'s| is)? (?:my |the )?time ?zone(?: am i in| is set| do you use)?[?.! ]*$/i,
    (_groups, { present }) => say(`Your time zone is ${knownZone(present.timezone)}.`),
  ),
])
