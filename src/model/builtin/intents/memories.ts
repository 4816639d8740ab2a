import { translateTo } from '../../../language/languages.ts'
import { asksNotToKeep } from '../../../text/secrecy.ts'
import { isOfAnother } from '../facts.ts'
import { type Intent, on, type Present, type Reply, report, type Steps, use, type World } from '../intent.ts'
import { formatRecordedDay } from '../local-time.ts'
import { type Outcome, whyNot } from '../results.ts'
import { bullets, capitalise, isQuestion, tidy, toContent, toYou, withoutEnd } from '../text.ts'
import { ALL_RIGHT, CHOOSE, CLOSEST, ERASE, NOT_KEPT, WHICH_ONE } from '../wording.ts'
import { isAspect, wordsOf } from '../words.ts'
import { findTold, lookUp } from './look-up.ts'
import { cancel } from './timers.ts'
import { findNamed } from './which-timer.ts'

export const ASK_REMEMBER = 'What should I remember?'
export const ASK_FORGET = 'What should I forget?'
const NOTHING_FORGOTTEN =
  'Nothing is forgotten. Say “forget” and what, such as “Forget my address”, or erase a message on the [timeline](/).'
const NOT_REMEMBERED = 'I don’t remember anything like that.'

/** Drops the closing punctuation of a single sentence. */
const statementIn = (text: string) => {
  const content = toContent(text)
  return /[.!?？].*[.!?？]/s.test(content) ? content : withoutEnd(content, /[\s.!?？]/)
}

const NO_STATEMENT =
  /^(?:|me|you|us|this|that|it|something|(?:what|that) (?:i|we|you)(?: just)? (?:said|told you|wrote)|)$/i

const SAY_WHOLE = 'Please say it in one sentence, such as “My passport expires on 19 September”.'

const KEPT = /^I’ll remember: (.+)\.$/

function remember(text: string): Reply {
  return NO_STATEMENT.test(tidy(text)) ? ASK_REMEMBER : keep(statementIn(text))
}

function* keep(text: string): Steps {
  const outcome = yield* use('remember', { text })
  if (outcome.ok) return `I’ll remember: ${toYou(text)}.`
  if (outcome.reason === 'not_to_keep') return NOT_KEPT
  if (outcome.reason === 'invalid_arguments' || outcome.reason === 'unavailable') return whyNot(outcome)
  return 'I couldn’t keep that. Please say it again in one plain sentence, such as “Remember that my sister is called Ada”.'
}

/** "No, my sister is called Anna, not Anne": remembers the one and forgets the memory of the other. */
function* correct([right = '', wrong = '']: readonly string[]): Steps {
  const statement = tidy(right)
  const text = yield* keep(statement)
  const { memories } = yield* use('recall', { query: null })
  const [about] = wordsOf(statement.replace(/^(?:my|the|our|i|i'm) /i, ''))
  const outdated = memories.filter(({ text: known = '' }) => {
    const words = wordsOf(known)
    return words.includes(about ?? '') && wordsOf(wrong).every((word) => words.includes(word))
  })
  const [old, ...others] = outdated
  if (old?.id !== undefined && others.length === 0) yield* use('forget', { query: old.id })
  return text
}

const recallAll = () =>
  report('recall', { query: null }, ({ memories }) => {
    const lines = memories.map(({ text = '' }) => capitalise(toYou(text)))
    if (lines.length === 0) return 'Nothing yet. Tell me something about you.'
    return `This is what I remember:\n\n${bullets(lines, 'more under [Memory](/memories)')}`
  })

/** Too general to name a memory. */
const NAMES_NOTHING =
  /^(?:(?:everything|all|anything|whatever|stuff|things?|facts?|memor(?:y|ies)|conversations?|chats?|messages?|sentences?|last|previous|earlier|today|yesterday|said|wrote|told|history|what|i|you|me|just|my|the|about|of|know|that|it) ?)+$/i

function forget(text: string, world: World): Reply {
  const content = tidy(text)
  if (content === '') return ASK_FORGET
  if (NAMES_NOTHING.test(content)) return ERASE
  if (/^(?:who|what|when|where|which|whose|how)\b/i.test(content)) return forgetAnswer(content, world)
  const aspects = wordsOf(content).slice(1)
  const isOwn = /^(?:my|our) /i.test(content) && aspects.length > 0 && aspects.every(isAspect)
  return isOwn ? forgetOwn(content, aspects, world) : forgetWords(content, world)
}

/** "That" is what was just said, if it was kept; "forget it" also ends a question of the delegate. */
function forgetThat(that: string, world: World): Reply {
  const [last] = world.conversation.past
  const kept = last && (/^Noted\.$/.test(last.reply) ? last.said : KEPT.exec(last.reply)?.[1])
  if (kept !== undefined) return forgetWords(statementIn(kept), world)
  return /^it$/i.test(that) ? ALL_RIGHT : NOTHING_FORGOTTEN
}

/** "Where I live" means what answers it. */
function* forgetAnswer(question: string, world: World): Steps {
  const { told } = yield* findTold(question, world)
  const [answer, ...others] = told
  if (answer === undefined) return NOT_REMEMBERED
  if (others.length === 0) return yield* forgetWords(answer.id ?? answer.text, world)
  return `${WHICH_ONE}\n\n${bullets(told.map(({ text }) => capitalise(toYou(text))))}`
}

/** "My name" means only the name of the owner. */
function* forgetOwn(content: string, aspects: readonly string[], world: World): Steps {
  const { memories } = yield* use('recall', { query: aspects.join(' ') })
  const own = memories.filter(({ text = '' }) => !isOfAnother(text, aspects))
  if (memories.length > 0 && own.length === 0) return NOT_REMEMBERED
  const [only, ...others] = own
  return yield* forgetWords(only?.id !== undefined && others.length === 0 ? only.id : content, world)
}

function* forgetWords(query: string, { present }: World): Steps {
  const outcome = yield* use('forget', { query })
  if (outcome.reason === 'not_found') return NOT_REMEMBERED
  const choices = outcome.reason === 'ambiguous' ? choicesIn(outcome, present) : []
  if (choices.length > 0) {
    const where = outcome.chooseUntil === undefined ? '' : `\n\n${CHOOSE}`
    return `${choices.length > 1 ? WHICH_ONE : CLOSEST}\n\n${bullets(choices)}${where}`
  }
  if (!outcome.ok) return whyNot(outcome)
  const { goes, stays, undoSeconds, message } = outcome
  const words = message === undefined ? memoriesIn(goes) : [`“${message}”`]
  return [
    words.length > 0 ? `Forgotten: ${words.join('; ')}.` : 'Forgotten.',
    ...(undoSeconds === undefined ? [] : ['Say “undo” within a minute to bring it back.']),
    ...describeRemaining(stays),
  ].join(' ')
}

const memoriesIn = (parts: Outcome['goes']) =>
  parts.filter(({ kind }) => kind?.startsWith('memor')).flatMap(({ items }) => items.map(toYou))

function describeRemaining(stays: Outcome['stays']): string[] {
  const isThing = stays.some(({ kind = '' }) => /^(?:note|timer|task)$/.test(kind))
  if (isThing) return ['Notes, reminders and tasks about it stay.']
  return stays.some(({ kind }) => kind === 'message') ? ['What you said stays on the timeline.'] : []
}

/** Parses the list in an ambiguous outcome: “a memory” (date); said: “a message” (date). */
function choicesIn({ message = '' }: Outcome, present: Present): string[] {
  return [...message.matchAll(/(said: )?“([^“”]*)”(?: \(([^)]{1,40})\))?/g)].map(
    ([, said, text = '', date = null]) => {
      const day = formatRecordedDay(date, present)?.replace(/^on /, '')
      const words = said === undefined ? capitalise(toYou(text)) : `“${text}”`
      return `${words}${day === undefined ? '' : ` (${day})`}`
    },
  )
}

const NOTHING_TO_UNDO =
  'I can only bring back what I forgot within the last minute. You can restore notes and lists under [Notes](/notes), and a cancelled reminder has to be set again.'

/**
 * The forgotten words are no longer in the conversation, so nothing here tells whether another deed came after. The
 * reply tells what came back.
 */
function* undo(): Steps {
  const { ok, restored } = yield* use('undo_forget', {})
  if (!ok) return NOTHING_TO_UNDO
  const words = memoriesIn(restored)
  return words.length > 0 ? `I remember again: ${words.join('; ')}.` : 'I remember again what I last forgot.'
}

/** Cancels what was just forgotten, or else the reminder that was just named. */
function* cancelThat(world: World): Steps {
  if (/^Forgotten/.test(world.conversation.past[0]?.reply ?? '')) return yield* undo()
  return yield* cancel((yield* findNamed([], world))?.id ?? '', 'reminder', world)
}

const ask =
  (isTopic: boolean) =>
  ([words = '']: readonly string[], world: World) =>
    tidy(words) === '' ? null : lookUp(tidy(words), isTopic, world)
const question = ask(false)

/** "Remember what I said?" asks; "can you remember that I like tea?" does not. */
const asks = (words: string) => /[?？]\s*$/.test(words) && !/^that\b/i.test(words)

export const recallIntents: readonly Intent[] = [
  on(
    /^(?:undo(?: (?:that|it|this))?|(?:no,? )?(?:keep|restore) (?:it|that)|bring (?:it|that) back|take (?:it|that) back|revert(?: that)?|no,? (?:don't|do not))$/,
    undo,
  ),
  on(/^(?:no,? )?cancel (?:that|it|this)$/, (_groups, world) => cancelThat(world)),
  on(
    [
      /^(?:tell me |summari[sz]e )?(?:what|which things|everything|all)(?: all| else| things)?(?: that)?(?: do| did| can| have)? you (?:know|remember|recall|remembered|learned|learnt|saved|stored)(?: (?:about|of) me)?(?: so far| by now)?$/,
      /^(?:show|list|tell|give|read)(?: me)?(?: all)?(?: of)? (?:my|your|the) (?:memories|facts|memory)$/,
      /^(?:what|which) (?:memories|facts) (?:do you have|are there|have you got|have you)(?: (?:about|of) me)?$/,
      /^do you (?:know|remember) (?:me|anything about me|who i am)$/,
      /^(?:who am i|what(?:'s| is) in your memory|(?:my )?memories|(?:tell me )?(?:something |everything |all |more )?about me)$/,
    ],
    recallAll,
  ),
  on(
    [
      /^(?:tell me )?(?:what|everything|all|anything)(?: all| else)?(?: that)?(?: do| did| can)? you (?:know|remember|recall|have)(?: saved| stored)? (?:about|of|on|regarding|for) (.+)$/,
      /^what (?:did|have) i (?:tell|told|say to|said to) you (?:about|of|on|regarding) (.+)$/,
      /^tell me (?:again )?about (.+)$/,
      /^(?:find|show|list|get|give|tell|look up|search(?: for)?)(?: me)? (?:everything|anything|all|whatever|something)(?: (?:that )?(?:you|i) (?:know|have|remember|find|said|told you))? (?:about|on|of|regarding) (.+)$/,
    ],
    ask(true),
  ),
  on(
    [
      /^(?:do|can|could) you (?:still )?(?:know|remember|recall|tell me) (.+)$/,
      /^(?:tell me|remind me(?: of)?|recall)(?: again)? (?!when .* to )((?:who|what|when|where|which|whose|how)\b(?! to\b).+)$/,
      /^remind me of (.+)$/,
    ],
    ([words = ''], world) => (/^that\b/i.test(words) ? null : question([words], world)),
  ),
  on(/^remember ((?:my|our|the|who|what|when|where|how|why) .+)$/, ([words = ''], world) =>
    asks(words) ? question([words], world) : null,
  ),
]

export const forgetIntents: readonly Intent[] = [
  on(
    /^forget (?:about )?(it|that|this|what i(?:'ve)? (?:just )?(?:said|told you)|(?:my|the) last message)$/,
    ([that = ''], world) => forgetThat(that, world),
  ),
  on(/^forget$/, () => ASK_FORGET),
  on(
    [
      /^(?:forget|unlearn|erase|delete|remove|drop|wipe) (?:the |my |your |that )?(?:facts?|memory|memories)(?: (?:that|about|of|on|regarding))? (.+)$/,
      /^(?:forget|unlearn|erase|delete) (?:everything|all|anything|whatever|what)(?: that)?(?: (?:i|you|we)(?: have|'ve)? (?:said|told you|know|knew|remember|saved|stored))? (?:about|of|on|regarding) (.+)$/,
      /^(?:forget|unlearn) (?:that |about |the fact that |everything about )?(.+)$/,
      /^(?:do not|don't|stop) (?:remember|remembering|keep|keeping) (?!(?:this|it|what|that$)\b)(?:that |the fact that )?(.+)$/,
    ],
    ([text = ''], world) => forget(text, world),
  ),
]

/** "Don't keep that", anywhere in a message. Before `rememberIntents`, which would read the opposite. */
export const secrecyIntent: Intent = on('(.+)', ([text = ''], { present }) =>
  asksNotToKeep(text) ? translateTo(present.language, NOT_KEPT) : null,
)

/** "Sorry, I meant Wednesday" does not say what of. It sees polite words, because "actually" is one. */
export const correctionIntent: Intent = on(
  "(?:no|sorry|wait|oops|actually|(?:that's|that is) (?:wrong|not right|incorrect))[,.:;!]? (?:(?:it|he|she)(?:'s| is)|i mean|i meant) .{1,200}",
  (_groups, { conversation: { past } }) =>
    /^(?:Noted|I’ll remember|You told me)/.test(past[0]?.reply ?? '') ? SAY_WHOLE : null,
)

export const rememberIntents: readonly Intent[] = [
  on("(?:no|sorry|wait|actually|(?:that's )?wrong)[,.:;!]? (.{3,200}), (?:and )?not (.{1,200})", correct),
  on(
    [
      "(?:remember|memori[sz]e|keep in mind|bear in mind|(?:don't|do not|never)(?: ever)? forget|take note|make a mental note|learn)(?:[:,-]| this| the following)*(?: for (?:me|later|the future)[:,]?)?(?: that| the fact that| of the fact that)?[:,]? (.+)",
      '(?:save|store|keep|add|put|commit)(?: this| that| it)? (?:to|in|into)(?: your| the)? (?:memory|memories)[:,]?(?: that)? (.+)',
      '(?:for the record|for future reference|for your memory|fyi|(?:please )?note that)[:,]? (.+)',
      "(.{3,1500}?)(?:[.,;!] (?:please )?| please )(?:remember|keep(?= .* in mind$)|don't forget|do not forget) (?:that|this|it)(?: in mind)?",
    ],
    ([text = '']) => (isQuestion(tidy(text)) ? null : remember(text)),
    'statement',
  ),
  on('(?:remember|memori[sz]e|keep in mind)(?: (?:this|that|it|something))?', () => ASK_REMEMBER),
]

/** A request that is a question in substance. Must come last: "show me the shopping list" is a note. */
export const askingIntent: Intent = on(
  /^(?:tell|give|show) me(?: again)? ((?:my|our|the) .{2,200})$/,
  question,
)
