import { type Plan, timelineSearch } from '../plan.ts'
import { tidy } from '../text.ts'
import { queryWords } from '../words.ts'
import { firstOf, type Rule, rule } from './rules.ts'

const PAST = '(?:timeline|history|conversations?|chats?|messages|log|past|records?)'
const SAID =
  '(?:mention(?:ed)?|(?:talk|talked|speak|spoke|spoken|chat|chatted|write|wrote|written|ask|asked|tell|told|say|said|text|texted|complain|complained)(?: (?:to )?you)?(?: (?:something|anything))?(?: (?:about|of|that|regarding))?|discuss(?:ed)?|br(?:ing|ought) up|refer(?:red)? to)'

/** Every word that is sought must occur: only those that matter are sought. */
function search([text = '']: readonly string[]): Plan | null {
  const { keys, aspects } = queryWords(text)
  const query = [...keys, ...aspects].join(' ') || tidy(text)
  return query === '' ? null : { kind: 'call', call: timelineSearch(query) }
}

export const timelineRule: Rule = firstOf([
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
