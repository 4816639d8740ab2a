import { oneLine, shorten } from '../../../lib/shorten.ts'
import { firstOf, type Intent, on, type Present, type Steps, use, type World } from '../intent.ts'
import { formatRecorded, wallMs } from '../local-time.ts'
import { whyNot } from '../results.ts'
import { bullets, isQuestion, tidy } from '../text.ts'
import { HAD_FORGOTTEN, NOTHING_FOUND } from '../wording.ts'
import { queryWords, senseOf, wordsOf } from '../words.ts'
import { type Days, daysOf, PERIOD } from './dates.ts'
import { findNoted } from './look-up.ts'

const MAX_LINE_CHARS = 160
const NOT_IN_LATEST = 'I found nothing about that in the latest messages. The [timeline](/) has the rest.'
const SAID =
  '(?:mention(?:ed)?|(?:talk|talked|speak|spoke|spoken|write|wrote|written|ask|asked|tell|told|say|said|text|texted|complain|complained)(?: (?:to )?you)?(?: (?:something|anything))?(?: (?:about|of|that|regarding))?|discuss(?:ed)?|br(?:ing|ought) up|refer(?:red)? to)'
const PAST = '(?:timeline|history|conversations?|chats?|messages|log|past|records?)'
const OF_PERIOD = `(?: (?:(?:on|from|of|for|during|in|over) )?(${PERIOD}))?`

const WITH_PERIOD = new RegExp(`^(.*?)(?:^| )(?:(?:on|from|during|in|over) )?(${PERIOD})$`, 'i')

/** A search must match all its words, so use only the relevant ones. */
function queryOf(words: string): string | null {
  const { keys, aspects } = queryWords(words)
  return [...keys, ...aspects].join(' ') || null
}

function search(groups: readonly string[], { present }: World): Steps | null {
  const text = firstOf(groups)
  const [, words = text, period] = WITH_PERIOD.exec(text) ?? []
  const days = period === undefined ? null : daysOf(period, present)
  const query = queryOf(words)
  if (query === null) return days && look(null, days, present)
  return look(query, days, present)
}

/** What the owner said in a period, or with these words. */
function* look(query: string | null, days: Days | null, present: Present): Steps {
  const outcome = yield* use('search_timeline', { query, from: days?.from, to: days?.to })
  if (!outcome.ok) return whyNot(outcome)
  const { forgotten, hits, more } = outcome
  // The search returns the latest hits, which may all be questions and replies. Recall ranks what the owner said.
  const recalled = query !== null && days === null && more ? (yield* use('recall', { query })).said : []
  const known = new Set(hits.map(({ at }) => at))
  const found = [...hits, ...recalled.filter(({ at }) => !known.has(at))]
  const [from, until] = days?.hours ?? [0, 24]
  const hourOf = (at: Date) => String(new Date(wallMs({ ...present, now: at })).getUTCHours())
  // The search also matches prefixes: "Cardiff" for "car".
  const senses = query?.split(' ').map(senseOf) ?? []
  const said = found
    .filter(({ at, who, text = '' }) => {
      const words = new Set(wordsOf(text).map(senseOf))
      if (who !== 'owner' || (query !== null && isQuestion(text))) return false
      const hour = Number(formatRecorded(at, present, hourOf) ?? from)
      return hour >= from && hour < until && senses.every((sense) => words.has(sense))
    })
    .sort((a, b) => Date.parse(b.at ?? '') - Date.parse(a.at ?? ''))
  if (said.length === 0 && more) return NOT_IN_LATEST
  if (said.length === 0) return forgotten > 0 ? HAD_FORGOTTEN : NOTHING_FOUND
  const lines = said.map(({ at, text = '' }) => {
    const moment = formatRecorded(at, present)?.replace(/^on /, '') ?? 'Once'
    return `${moment}: “${shorten(oneLine(text), MAX_LINE_CHARS)}”`
  })
  const left = forgotten > 0 ? '\n\nThis leaves out what you asked me to forget.' : ''
  return `You said, the latest first:\n\n${bullets(lines, 'more on the [timeline](/)')}${left}`
}

/** "What did I write about roses?" may mean a note or a message. */
function* written(words: string, world: World): Steps {
  const noted = yield* findNoted(words, world)
  return noted ?? (yield* look(queryOf(words), null, world.present))
}

export const timelineIntents: readonly Intent[] = [
  on(
    'what (?:did|have) i (?:write|written|note|noted|jot|jotted)(?: down)?(?: about| on| regarding| for) (.+)',
    ([words = ''], world) => written(words, world),
  ),
  on(
    [
      `(?:(?:tell|show) me )?what (?:did|have|had) (?:i|we)(?: already| just| all)? (?:say|said|talk|talked|speak|spoken|chat|chatted|discuss|discussed|mention|mentioned|write|written|ask|asked|tell|told)(?: (?:to )?you)?(?: about)?${OF_PERIOD}`,
      `what (?:happened|was said)${OF_PERIOD}`,
      `(?:show|list|read|give|tell)(?: me)?(?: what (?:we|i) (?:said|talked about|discussed|wrote)| (?:our|my|the) ${PAST})${OF_PERIOD}`,
    ],
    ([period = ''], { present }) => look(null, daysOf(tidy(period) || 'today', present), present),
  ),
  on(
    [
      `(?:when|where|how often) (?:did|have|had) (?:i|we|you)(?: last| first| ever| ever last)? ${SAID} (.+)`,
      `(?:did|have) (?:i|we)(?: ever| already)? ${SAID} (.+)`,
      `when was the (?:last|first) time (?:that )?(?:i|we) ${SAID} (.+)`,
      /^what (?:did|have) (?:i|we|you) (?:last )?(?:say|said|talk|talked|write|wrote|mention|mentioned|discuss|discussed)(?: about| of| on| regarding)? (.+)$/,
      `(?:search|look|go|check|scan) (?:in |through |into |up )?(?:the |my |our |your )?${PAST} (?:for|about|on) (.+)`,
      `(?:search|find|look up|look for|look)(?: for)? (.{1,300}) (?:in|on|through) (?:the |my |our |your )?${PAST}`,
      `(?:find|search)(?: me)?(?: for)?(?: the)?(?: messages?| moments?)?(?: where| when| in which) (?:i|we) ${SAID} (.+)`,
      /^(?:search for|search|find mentions of|look for mentions of) (.+)$/,
    ],
    search,
  ),
]
