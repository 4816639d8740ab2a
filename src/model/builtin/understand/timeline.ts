import { type Plan, timelineSearch } from '../plan.ts'
import { tidy } from '../text.ts'
import { queryWords } from '../words.ts'
import { daysOf, PERIOD, takePeriod } from './period.ts'
import { firstOf, type Request, type Rule, rule } from './rules.ts'

const PAST = '(?:timeline|history|conversations?|chats?|messages|log|past|records?)'
const SAID =
  '(?:mention(?:ed)?|(?:talk|talked|speak|spoke|spoken|chat|chatted|write|wrote|written|ask|asked|tell|told|say|said|text|texted|complain|complained)(?: (?:to )?you)?(?: (?:something|anything))?(?: (?:about|of|that|regarding))?|discuss(?:ed)?|br(?:ing|ought) up|refer(?:red)? to)'

/** Every word that is sought must occur: only those that matter are sought. */
function search([text = '']: readonly string[], { present }: Request): Plan | null {
  const period = takePeriod(text, present)
  const sought = period ? period.rest : text
  const { keys, aspects } = queryWords(sought)
  const query = [...keys, ...aspects].join(' ') || (period ? '' : tidy(sought))
  if (query === '' && !period) return null
  return { kind: 'call', call: timelineSearch(query === '' ? null : query, period?.days) }
}

/** What was said in a period; today where none is told. */
const listing =
  (remark?: string) =>
  ([period = '']: readonly string[], { present }: Request): Plan => ({
    kind: 'call',
    call: timelineSearch(null, daysOf(period === '' ? 'today' : period, present)),
    ...(remark === undefined ? {} : { remark }),
  })

const NO_SUMMARY = 'Summing up needs a language model; I can show what was said.'
const OF_PERIOD = `(?:\\s+(?:(?:on|from|of|for|during|in|over)\\s+)?(${PERIOD}))`
const TALK = '(?:conversations?|chats?|talks?|messages|discussions?|timeline|history)'

export const timelineRule: Rule = firstOf([
  rule(
    new RegExp(
      `^(?:(?:tell|show) me )?what (?:did|have|had) (?:i|we)(?: already| just| all)? (?:say|said|talk|talked|speak|spoken|chat|chatted|discuss|discussed|mention|mentioned|write|written|ask|asked|tell|told)(?: (?:to )?you)?(?: about)?${OF_PERIOD}?[?.! ]*$`,
      'is',
    ),
    listing(),
  ),
  rule(new RegExp(`^what (?:happened|was said)${OF_PERIOD}[?.! ]*$`, 'is'), listing()),
  rule(
    new RegExp(
      `^(?:show|list|read|give|tell)(?: me)?(?: what (?:we|i) (?:said|talked about|discussed|wrote)| (?:our|my|the) ${TALK})${OF_PERIOD}?[?.! ]*$`,
      'is',
    ),
    listing(),
  ),
  rule(
    new RegExp(
      `^(?:summari[sz]e|recap|sum up|give me a (?:summary|recap)(?: of)?)(?: (?:our|the|this|my))?(?: (?:${TALK}|day|everything|what (?:we|i) (?:said|talked about|discussed)))?(?: (?:so far|until now))?${OF_PERIOD}?[?.! ]*$`,
      'is',
    ),
    listing(NO_SUMMARY),
  ),
  rule(
    new RegExp(
      `^(?:when|where|how often) (?:did|have|had) (?:i|we|you)(?: last| first| ever| ever last)?\\s+${SAID}\\s+(.+)$`,
      'is',
    ),
    search,
  ),
  rule(new RegExp(`^(?:did|have) (?:i|we)(?: ever| already)?\\s+${SAID}\\s+(.+)$`, 'is'), search),
  rule(new RegExp(`^when was the (?:last|first) time (?:that )?(?:i|we)\\s+${SAID}\\s+(.+)$`, 'is'), search),
  rule(
    /^what (?:did|have) (?:i|we|you) (?:last )?(?:say|said|talk|talked|write|wrote|mention|mentioned|discuss|discussed)(?: about| of| on| regarding)?\s+(.+)$/is,
    search,
  ),
  rule(
    new RegExp(
      `^(?:search|look|go|check|scan)\\s+(?:in |through |into |up )?(?:the |my |our |your )?${PAST}\\s+(?:for|about|on)\\s+(.+)$`,
      'is',
    ),
    search,
  ),
  rule(
    new RegExp(
      `^(?:search|find|look up|look for|look)\\s+(?:for\\s+)?([^\\n]{1,300}?)\\s+(?:in|on|through) (?:the |my |our |your )?${PAST}[.?! ]*$`,
      'is',
    ),
    search,
  ),
  rule(
    new RegExp(
      `^(?:find|search)(?: me)?(?: for)?(?: the)?(?: messages?| moments?)?(?: where| when| in which) (?:i|we)\\s+${SAID}\\s+(.+)$`,
      'is',
    ),
    search,
  ),
  rule(/^(?:search|search for|find mentions of|look for mentions of)\s+(.+)$/is, search),
])
