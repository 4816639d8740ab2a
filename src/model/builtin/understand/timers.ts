import { call, type Plan, say } from '../plan.ts'
import { capitalise, tidy } from '../text.ts'
import { firstOf, type Request, type Rule, rule } from './rules.ts'
import { takeWhen, type When } from './when.ts'

const KIND = '(?:timer|alarm|reminder|countdown)'
const MAX_TITLE_CHARS = 200

/** "An alarm for 7". */
const FOR_CLOCK =
  /\bfor (?=\d{1,2}(?:[:.]\d{2})?(?![\d:.]*\d)(?!\s*(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|days?|weeks?|months?|people)\b))/i

function setTimer(rest: string, request: Request, fallbackTitle: string): Plan {
  // An alarm at six is for the morning.
  const early = fallbackTitle === 'Wake up' || fallbackTitle === 'Alarm'
  const when = takeWhen(early ? rest.replace(FOR_CLOCK, 'at ') : rest, request.present, { early })
  if (when?.kind === 'impossible') return say(when.why)
  if (!when) return say(whenIsMissing(titleOf(rest, fallbackTitle)))
  const title = titleOf(when.rest, fallbackTitle)
  const timing = timingOf(when, request)
  const remark = when.kind === 'every' ? when.words : undefined
  return call(
    'set_timer',
    { title, at: null, in_minutes: null, recurrence: null, missed_policy: null, ...timing },
    remark,
  )
}

function timingOf(when: Exclude<When, { kind: 'impossible' }>, { present }: Request) {
  if (when.kind === 'at') return { at: when.local }
  if (when.kind === 'every') return { recurrence: when.cron }
  if (when.seconds % 60 === 0) return { in_minutes: when.seconds / 60 }
  return { at: new Date(present.now.getTime() + Math.round(when.seconds * 1000)).toISOString() }
}

function whenIsMissing(title: string): string {
  const isNamed = !['Timer', 'Alarm', 'Reminder', 'Countdown', 'Wake up'].includes(title)
  // "Remind me about the meeting" has nothing to be done in it.
  const isDeed = !/^(?:the|a|an|my|our|your|his|her|their|this|that|\d)/i.test(title)
  const what = isNamed && isDeed ? ` to ${title.slice(0, 1).toLowerCase()}${title.slice(1)}` : ''
  return `When? Say, for example: “remind me tomorrow at 9${what}”, or “in 20 minutes”.`
}

/** What is left of the words once the time is out: without the small words that joined them. */
function titleOf(rest: string, fallback: string): string {
  let title = tidy(rest)
  const joints = [
    /^(?:called|named|titled|labell?ed|with (?:the )?(?:title|label|name))\s+/i,
    /^(?:for me|me)\b\s*/i,
    /^(?:to|that|about|of|for|and|on|at|in)\s+/i,
    new RegExp(`^${KIND}s?\\b\\s*`, 'i'),
  ]
  for (let round = 0; round < 3; round += 1) for (const joint of joints) title = title.replace(joint, '')
  title = tidy(title.replace(/\s+(?:to|for|at|on|in|about|and|that|by|from now)$/i, ''))
  if (/^(?:i|we) (?:have|need|must|should)(?: to)? /i.test(title))
    title = title.replace(/^(?:i|we) (?:have|need|must|should)(?: to)? /i, '')
  return title === '' ? fallback : capitalise(title).slice(0, MAX_TITLE_CHARS).toWellFormed()
}

const setting: readonly Rule[] = [
  rule(
    new RegExp(
      `^(?:set|start|create|make|add|schedule|put|give me|run|begin)\\s+(?:me\\s+)?(?:up\\s+)?(?:(?:a|an|another|the|my)\\s+)?(?:new\\s+)?([^\\n]{0,300}?)\\s*\\b(${KIND})\\b(.*)$`,
      'is',
    ),
    ([before = '', kind = '', after = ''], request) =>
      setTimer(
        `${before.trim() === '' ? '' : `${before.trim()} ${kind}`} ${after}`.trim(),
        request,
        capitalise(kind.toLowerCase()),
      ),
  ),
  rule(/^remind me(?: again)?\b[:,]?\s*(.*)$/is, ([rest = ''], request) =>
    setTimer(rest, request, 'Reminder'),
  ),
  rule(/^wake me(?: up)?\b\s*(.*)$/is, ([rest = ''], request) => setTimer(rest, request, 'Wake up')),
  rule(new RegExp(`^(${KIND})\\b(?: me)?\\s*[:,]?\\s*(.+)$`, 'is'), ([kind = '', rest = ''], request) =>
    onlyWithTime(rest, request, capitalise(kind.toLowerCase())),
  ),
  rule(new RegExp(`^(.{1,60}?)[ -](${KIND})[.! ]*$`, 'is'), ([rest = '', kind = ''], request) =>
    onlyWithTime(`${rest} ${kind}`, request, capitalise(kind.toLowerCase())),
  ),
  rule(/^(?:ping|nudge|alert|notify|tell|text|call|message) me\b\s+(.*)$/is, ([rest = ''], request) =>
    onlyWithTime(rest, request, 'Reminder'),
  ),
  rule(
    /^(?:remember|(?:don't|do not) (?:let me )?forget|make sure (?:that )?i(?: remember)?) (to .+)$/is,
    ([rest = ''], request) => setTimer(rest, request, 'Reminder'),
  ),
  // "In ten minutes, remind me to …", "every morning at 8 wake me".
  rule(
    /^((?:in|at|on|every|each|tomorrow|tonight|today|next|this)\b[^\n]{1,120}?),?\s+(?:please )?(?:remind|wake|ping|alert|tell|notify) me\b(?: up)?\s*(.*)$/is,
    ([time = '', rest = ''], request) =>
      onlyWithTime(`${time} ${rest}`, request, /\bwake me\b/i.test(request.text) ? 'Wake up' : 'Reminder'),
  ),
]

function onlyWithTime(rest: string, request: Request, fallbackTitle: string): Plan | null {
  const plan = setTimer(rest, request, fallbackTitle)
  return plan.kind === 'say' && takeWhen(rest, request.present, { early: false }) === null ? null : plan
}

const listing: readonly Rule[] = [
  rule(
    new RegExp(`^(?:do i have|have i got|are there)\\s+(?:any |some |more )?${KIND}s?\\b.{0,60}$`, 'is'),
    () => call('list_timers', {}),
  ),
  rule(
    new RegExp(
      `^(?:(?:show|list|display|give|tell|see|view)(?: me)?|what(?: are|'re)?|which|do i have|have i got|are there|how many)\\s+(?:all\\s+|any\\s+|of\\s+|my\\s+|the\\s+|active\\s+|current\\s+|upcoming\\s+|next\\s+|pending\\s+)*${KIND}s?\\b(?:\\s+(?:do i have|have i got|are (?:there|set|running|active|pending)|i have|set|running|coming up|is next))*[?.! ]*$`,
      'i',
    ),
    () => call('list_timers', {}),
  ),
  rule(new RegExp(`^(?:all )?(?:my )?${KIND}s[?.! ]*$`, 'i'), () => call('list_timers', {})),
  rule(
    new RegExp(
      `^(?:how (?:long|much time)(?: is)? (?:left|until|till)|how long|when (?:does|is|will)).{0,40}\\b${KIND}\\b`,
      'i',
    ),
    () => call('list_timers', {}),
  ),
]

const cancelling: readonly Rule[] = [
  rule(
    new RegExp(
      `^(?:cancel|stop|delete|remove|clear|kill|end|unset|dismiss|turn off|switch off|get rid of)\\s+(?:all|every)(?: of)?(?: my| the)? ${KIND}s?[.! ]*$`,
      'i',
    ),
    () => ({
      kind: 'cancel-timers',
      which: 'all',
    }),
  ),
  rule(
    new RegExp(
      `^(?:cancel|stop|delete|remove|clear|kill|end|unset|dismiss|turn off|switch off|get rid of)\\s+(?:the |my |that |this )?([^\\n]{0,200}?)\\s*\\b${KIND}\\b\\s*(.*)$`,
      'is',
    ),
    ([before = '', after = '']) => {
      const name = tidy(
        `${before} ${after.replace(/^(?:called|named|titled|labell?ed|for|about|to|that|of)\s+/i, '')}`.replace(
          /\s+/g,
          ' ',
        ),
      )
      return name === '' ? { kind: 'cancel-timers', which: 'only' } : call('cancel_timer', { query: name })
    },
  ),
]

export const timerRule: Rule = firstOf([...listing, ...cancelling, ...setting])
