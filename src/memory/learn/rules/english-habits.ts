import { cleanValue, cutPlace, type Found, type Rule, valueRule } from './rule.ts'

/** English statements about habits, health, learning, fears and collections. */

const OFTEN =
  /\b(?:every|each|most|on (?:mon|tues|wednes|thurs|fri|satur|sun)days|on weekends|at weekends|once|twice|daily|weekly|monthly|\w+ times|before (?:work|breakfast|bed)|after work)\b/i

/** A repeated activity, only if a frequency is given. */
const routine: Rule = {
  pattern:
    /^(?:i|we) (?<verb>run|swim|cycle|jog|meditate|volunteer|bake|knit|paint|sing|dance|hike|climb|surf|ski|garden|fish|sew|write|cook|box|row|train|exercise|work out|go|walk|visit|call|take|drink|do) (?<value>.+)$/i,
  read: ({ verb = '', value = '' }) => {
    const clean = cleanValue(value)
    if (clean === null || !OFTEN.test(clean)) return null
    return { kind: 'procedure', slot: 'habit', value: `${verb.toLowerCase()} ${clean}` }
  },
}

/** "I take my coffee black". */
const manner: Rule = {
  pattern:
    /^i (?:take|drink|have|like|want|prefer) my (?<thing>coffee|tea|eggs?|steak|toast|pizza|whisky|water|burgers?|rice|pasta) (?<value>.+)$/i,
  read: ({ thing = '', value = '' }) => {
    const clean = cleanValue(value)
    return clean === null
      ? null
      : { kind: 'preference', slot: thing.toLowerCase(), value: clean, singleValued: true }
  },
}

/** "I get up at six". */
const clock: Rule = {
  pattern:
    /^(?:i|we) (?:usually |always |normally )?(?<what>get up|wake up|go to bed|go to sleep|start work|finish work|have lunch|have dinner) (?:at|around|by) (?<value>.+)$/i,
  read: ({ what = '', value = '' }) => {
    const clean = cleanValue(value)
    return clean === null
      ? null
      : { kind: 'procedure', slot: what.toLowerCase(), value: clean, singleValued: true }
  },
}

const ILLNESS =
  "(?:type [12] |chronic |severe |mild |bad )?(?:diabetes|asthma|migraines?|epilepsy|adhd|arthritis|an(?:a)?emia|high blood pressure|hypertension|tinnitus|eczema|psoriasis|insomnia|hay fever|c(?:o)?eliac disease|ibs|crohn's(?: disease)?|dyslexia|sleep apn(?:o)?ea|gout|a pacemaker|a heart condition|back problems)"

const identity = (slot: string, more: Partial<Found> = {}) => ({ kind: 'identity', slot, ...more }) as const

export const habitRules: readonly Rule[] = [
  valueRule(
    /^(?:i|we) (?:was |were )?(?:grew up|raised|brought up) (?:in|on|near) (?<value>.+)$/i,
    identity('childhood'),
    (value) => /^\p{Lu}|^a |^the /u.test(cutPlace(value)),
  ),
  valueRule(
    /^(?:i|we)(?:'m| am|'re| are|'ve been| have been) (?:currently |still |now )?(?:learning|practi[sc]ing|taking lessons in|taking classes in) (?:how to |to )?(?<value>.+)$/i,
    identity('learns'),
  ),
  valueRule(
    /^(?:i|we)(?:'m| am|'re| are|'ve been| have been) (?:currently |still |now )?(?:training|saving(?: up)?) for (?<value>.+)$/i,
    { kind: 'plan', slot: 'works towards' },
  ),
  valueRule(
    /^i(?:'m| am) (?:really |very |a bit |terribly |so )?(?:afraid|scared|terrified|frightened) of (?<value>.+)$/i,
    identity('fear'),
  ),
  valueRule(
    new RegExp(
      `^i (?:have|suffer from|live with|was diagnosed with|have got|'ve got) (?<value>${ILLNESS})$`,
      'i',
    ),
    identity('health'),
  ),
  valueRule(
    /^i (?:wear|need|use) (?<value>(?:reading )?glasses|contact lenses|contacts|(?:a )?hearing aids?|a wheelchair|crutches|a cane)$/i,
    identity('aid'),
  ),
  valueRule(/^(?:i|we) (?:also )?collect (?<value>.+)$/i, { kind: 'preference', slot: 'collects' }),
  valueRule(
    /^i (?:studied|graduated in|majored in|have a degree in|have a phd in|did a degree in) (?<value>.+)$/i,
    identity('education'),
  ),
  valueRule(/^(?:i|we) (?:got )?married (?<value>.+)$/i, identity('marriage')),
  manner,
  clock,
  routine,
]
