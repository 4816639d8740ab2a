import { dateFormat } from '../../lib/date-format.ts'
import { toInstant } from '../../lib/time.ts'
import { namedMonths, type ResolvedDate } from '../../text/dates.ts'
import { occurs } from '../../text/lexicon.ts'
import { writtenNumbers } from '../../text/numbers.ts'
import { periodOf } from '../../text/period.ts'
import { contentWords } from '../../text/words.ts'
import type { Candidate, Relation } from './candidate.ts'
import { canonicalKey, isOwner, slotKeyOf, statementKeyOf } from './canonical-key.ts'
import { clausesWith, type Evidence, joined, lexiconOfText, type Quotable } from './evidence.ts'
import { type Court, judge, judgeRequest, type Rejection } from './gates.ts'
import { isAverse, isDenial } from './gates-modality.ts'
import { datesOf } from './gates-words.ts'
import { extractByRules } from './rules/rules.ts'

/** A candidate that passed all gates, ready for consolidation. */
export type Accepted = Omit<Candidate, 'relations'> & {
  readonly relations: readonly { readonly memoryId: string; readonly relation: Relation }[]
  /** The events it is based on. */
  readonly sourceSeqs: readonly number[]
  /** The owner's own utterance among them. */
  readonly saidSeq: number
  readonly saidAt: string
  /** The owner agreed to the delegate's words. */
  readonly agreed: boolean
  /** The owner says that something changed. */
  readonly isChange: boolean
  readonly isNegated: boolean
  /** How long the event lasts. Event times closer together than this count as the same. */
  readonly eventLastsMs: number
  readonly canonicalKey: string
  readonly slotKey: string
  readonly statementKey: string
  /** Content words, for finding similar memories. */
  readonly words: readonly string[]
}

export type Assessment =
  | { readonly outcome: 'accepted'; readonly accepted: Accepted }
  | { readonly outcome: 'rejected'; readonly reason: Rejection }

export type AssessRequest = Court & {
  /** Candidates from a model; null to extract by rules. */
  readonly candidates: readonly Candidate[] | null
  /** Whether the owner asked to remember this. */
  readonly isRequest?: boolean
}

/** A time confirmed by the quote, with the minimum duration of its unit. */
type KnownTime = { readonly at: string; readonly lastsMs: number }

const DAY_MS = 86_400_000

/** Upper bound for one model answer; the rest is dropped. */
const MAX_CANDIDATES = 50

/** Judges candidates, extracting them by rules if there is no model. Pure; takes milliseconds. */
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
  const isNegated = isDenial(candidate, own) !== isAverse(candidate, own)
  const said = joined(clausesWith(evidence.clauses, candidate))
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

/** A plan expires OVER_AFTER_MS after its day, week or year. */
function endOf({ kind }: Candidate, event: KnownTime | null): string | null {
  if (kind !== 'plan' || event === null) return null
  return new Date(Date.parse(event.at) + event.lastsMs + OVER_AFTER_MS).toISOString()
}

/** The candidate's end, if the quote confirms it. A date without a time includes the whole day. */
function knownEnd(end: string | null, evidence: Evidence, timezone: string): string | null {
  const known = knownTime(end, evidence, timezone)
  const day = known === null ? null : (/^\s*(\d{4}-\d{2}-\d{2})\s*$/.exec(end ?? '')?.[1] ?? null)
  return day === null ? (known?.at ?? null) : periodOf({ to: day }, { nowMs: 0, timezone }).untilAt
}

/** The time given by the candidate, or null if the quote does not confirm it. */
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
  // For an offset in hours across a DST change, only the instant is reliable, not the day.
  const isDay = (date: ResolvedDate) =>
    date.instantMs === instant.getTime() ||
    (date.year === year && date.month === month && (date.day === day || !date.hasDay))
  const quoted = datesOf(evidence, timezone).find(isDay)
  if (quoted) return { at: instant.toISOString(), lastsMs: quoted.lastsMs }
  const numbers = new Set(writtenNumbers(evidence.quote.text).flatMap(({ parts }) => parts))
  const months = new Set([...numbers, ...namedMonths(joined(evidence.sentences), evidence.lexicon.code)])
  const isQuoted = numbers.has(day ?? -1) && months.has(month ?? -1)
  return isQuoted ? { at: instant.toISOString(), lastsMs: DAY_MS } : null
}
