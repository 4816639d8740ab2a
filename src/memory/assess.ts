import { dateFormat } from '../clock/date-format.ts'
import { periodOf } from '../timeline/period.ts'
import { toInstant } from '../timers/local-time.ts'
import type { Candidate, Relation } from './candidate.ts'
import { canonicalKey, isOwner, slotKeyOf, statementKeyOf } from './canonical-key.ts'
import { type Evidence, joined, lexiconOfText, type Quotable, telling } from './evidence.ts'
import { type Court, judge, judgeRequest, type Rejection } from './gates.ts'
import { isDenial, isTurnedAway } from './gates-modality.ts'
import { datesOf } from './gates-words.ts'
import { namedMonths, type ResolvedDate } from './language/dates.ts'
import { occurs } from './language/lexicon.ts'
import { writtenNumbers } from './language/numbers.ts'
import { contentWords } from './language/words.ts'
import { extractByRules } from './rules/rules.ts'

/** A candidate that passed all gates, as consolidation takes it. */
export type Accepted = Omit<Candidate, 'relations'> & {
  readonly relations: readonly { readonly memoryId: string; readonly relation: Relation }[]
  /** The events that it rests on. */
  readonly sourceSeqs: readonly number[]
  /** Of those the owner's own words. */
  readonly saidSeq: number
  readonly saidAt: string
  /** The owner agreed to somebody else's words. */
  readonly agreed: boolean
  /** The owner says that something is no longer as it was. */
  readonly isChange: boolean
  readonly isNegated: boolean
  /** How long what happens at its event time lasts, as it was told: nearer to it than that is no other day. */
  readonly eventLastsMs: number
  readonly canonicalKey: string
  readonly slotKey: string
  readonly statementKey: string
  /** What it says, word by word, for finding what is near. */
  readonly words: readonly string[]
}

export type Assessment =
  | { readonly outcome: 'accepted'; readonly accepted: Accepted }
  | { readonly outcome: 'rejected'; readonly reason: Rejection }

export type AssessRequest = Court & {
  /** What a model found; null for rules to look for themselves. */
  readonly candidates: readonly Candidate[] | null
  /** The owner asks for these to be remembered. */
  readonly isRequest?: boolean
}

/** A time that the quote tells, and how long what was told lasts at least. */
type KnownTime = { readonly at: string; readonly lastsMs: number }

const DAY_MS = 86_400_000

/** More than this in one answer is no extraction. */
const MAX_CANDIDATES = 50

/** Finds candidates where there is no model, and judges each. Pure; takes milliseconds, so it runs in a worker. */
export function assess(request: AssessRequest): Assessment[] {
  const candidates =
    request.candidates ??
    request.quotables.flatMap((quotable: Quotable) => extractByRules(quotable, request.timezone))
  return candidates.slice(0, MAX_CANDIDATES).map((candidate) => {
    const verdict = request.isRequest === true ? judgeRequest(candidate, request) : judge(candidate, request)
    return 'rejection' in verdict
      ? { outcome: 'rejected', reason: verdict.rejection }
      : { outcome: 'accepted', accepted: accept(candidate, verdict.evidence, request.timezone) }
  })
}

function accept(candidate: Candidate, evidence: Evidence, timezone: string): Accepted {
  const { quotable, lexicon } = evidence
  const subject = isOwner(candidate.subject) ? 'owner' : candidate.subject.trim()
  const own = lexiconOfText(candidate.text, evidence)
  const isNegated = isDenial(candidate, own) !== isTurnedAway(candidate, own)
  const said = joined(telling(evidence.clauses, candidate))
  const whole = joined(evidence.sentences)
  const event = knownTime(candidate.eventTime, evidence, timezone)
  const eventTime = event?.at ?? null
  return {
    ...candidate,
    subject,
    text: candidate.text.trim().toWellFormed(),
    quote: candidate.quote.trim().toWellFormed(),
    eventTime,
    validUntil: knownEnd(candidate.validUntil, evidence, timezone) ?? endOf(candidate, event),
    sourceSeqs: quotable.seqs,
    saidSeq: quotable.utterance.seq,
    saidAt: quotable.utterance.at,
    agreed: quotable.agreed,
    isChange: !quotable.agreed && (occurs(lexicon.changing, said) || occurs(lexicon.changing, whole)),
    isNegated,
    eventLastsMs: event?.lastsMs ?? DAY_MS,
    canonicalKey: canonicalKey(candidate.text),
    slotKey: slotKeyOf({ subject, slot: candidate.slot }),
    statementKey: statementKeyOf({ subject, slot: candidate.slot, value: candidate.value, isNegated }),
    words: [...new Set(contentWords(`${candidate.text} ${candidate.slot} ${candidate.value}`))],
  }
}

const OVER_AFTER_MS = 12 * 60 * 60_000

/** A plan is over when its day is, or the week or year that was told instead. */
function endOf({ kind }: Candidate, event: KnownTime | null): string | null {
  if (kind !== 'plan' || event === null) return null
  return new Date(Date.parse(event.at) + event.lastsMs + OVER_AFTER_MS).toISOString()
}

/** An end that somebody gives, if the quote tells that day; what holds until a day holds on that day too. */
function knownEnd(end: string | null, evidence: Evidence, timezone: string): string | null {
  const known = knownTime(end, evidence, timezone)
  const day = known === null ? null : (/^\s*(\d{4}-\d{2}-\d{2})\s*$/.exec(end ?? '')?.[1] ?? null)
  return day === null ? (known?.at ?? null) : periodOf({ to: day }, { nowMs: 0, timezone }).untilAt
}

/** A time that somebody gives, if the quote tells that day; else null: what was not said is not kept. */
function knownTime(time: string | null, evidence: Evidence, timezone: string): KnownTime | null {
  const instant = time === null ? null : toInstant(time, timezone)
  if (!instant || Number.isNaN(instant.getTime())) return null
  const local = dateFormat('en-CA', {
    timeZone: timezone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
  })
  const [year, month, day] = local.format(instant).split(/\D+/).map(Number)
  // Of hours counted beyond a change of the clocks the day is by the clocks before it; the moment is right.
  const isDay = (date: ResolvedDate) =>
    date.instantMs === instant.getTime() ||
    (date.year === year && date.month === month && (date.day === day || !date.hasDay))
  const told = datesOf(evidence, timezone).find(isDay)
  if (told) return { at: instant.toISOString(), lastsMs: told.lastsMs }
  const numbers = new Set(writtenNumbers(evidence.quote.text).flatMap(({ parts }) => parts))
  const months = new Set([...numbers, ...namedMonths(joined(evidence.sentences), evidence.lexicon.code)])
  const isTold = numbers.has(day ?? -1) && months.has(month ?? -1)
  return isTold ? { at: instant.toISOString(), lastsMs: DAY_MS } : null
}
