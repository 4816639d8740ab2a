import { call, type Plan, say } from '../plan.ts'
import { isQuestion, tidy, toContent } from '../text.ts'
import { isAspect, queryWords } from '../words.ts'
import { firstOf, type Rule, rule } from './rules.ts'

const NEVER_MIND = say('All right.')
const WHAT_TO_REMEMBER = say(
  'What should I remember? Say, for example: “remember that my sister’s name is Ada”.',
)

const WHAT_TO_FORGET = say(
  'I forget one thing at a time: tell me what it is, for example “forget my address”. All that I remember stands under Memory, and all that was said on the Timeline; both can be erased there.',
)

/** Only what is explicitly to be remembered becomes a call; a question never does. */
function remember([text = '']: readonly string[]): Plan | null {
  const content = toContent(text)
  if (
    tidy(content) === '' ||
    /^(?:me|you|us|(?:what|that) (?:i|we|you)(?: just)? (?:said|told you|wrote))$/i.test(tidy(content))
  )
    return WHAT_TO_REMEMBER
  // One sentence is kept as a statement, without what closes it.
  const statement = /[.!?？].*[.!?？]/s.test(content) ? content : content.replace(/\s*[.!?？]$/, '')
  return call('remember', { text: statement })
}

function forget([text = '']: readonly string[]): Plan | null {
  const content = tidy(text)
  if (content === '' || /^(?:it|that|this|about it|about that)$/i.test(content)) return NEVER_MIND
  const { keys, aspects } = queryWords(content)
  const words = [...keys, ...aspects]
  // "Everything", "what I just said": words that would be found in anything, or in nothing.
  if (words.every((word) => NAMES_NOTHING.test(word))) return WHAT_TO_FORGET
  const isOwn = /^(?:my|our)\s/i.test(content) && words.every(isAspect)
  return {
    kind: 'call',
    call: { name: 'forget', args: { query: words.join(' ') } },
    ...(isOwn ? { isOwn } : {}),
  }
}

const NAMES_NOTHING =
  /^(?:everything|all|anything|whatever|stuff|things?|facts?|memor(?:y|ies)|conversations?|chats?|messages?|sentences?|last|previous|earlier|today|yesterday|wrote|history)$/

function lookUp(isTopic: boolean) {
  return ([question = '']: readonly string[]): Plan | null => {
    const content = tidy(question)
    return content === '' ? null : { kind: 'look-up', question: content, isTopic }
  }
}

const all = () => call('recall', { query: null })

const forgetting: readonly Rule[] = [
  rule(
    /^(?:never ?mind|forget (?:it|that|about it|about that)|nothing|cancel|stop)[.! ]*$/i,
    () => NEVER_MIND,
  ),
  rule(/^forget[.!: ]*$/i, () => say('What should I forget? Say, for example: “forget that …”.')),
  rule(
    /^(?:forget|unlearn|erase|delete|remove|drop|wipe)\s+(?:the |my |your |that )?(?:facts?|memory|memories)(?:\s+(?:that|about|of|on|regarding))?\s+(.+)$/is,
    forget,
  ),
  rule(
    /^(?:forget|unlearn|erase|delete)\s+(?:everything|all|anything|whatever|what)\s+(?:that )?(?:i|you|we)(?: have|'ve)? (?:said|told you|know|knew|remember|saved|stored)\s+(?:about|of|on|regarding)\s+(.+)$/is,
    forget,
  ),
  rule(
    /^(?:you (?:can|should|may) )?(?:forget|unlearn)\s+(?:that|about|the fact that|everything about)?\s*(.+)$/is,
    forget,
  ),
  rule(
    /^(?:do not|don't|stop) (?:remember|remembering|keep|keeping)\s+(?:that |the fact that )?(.+)$/is,
    forget,
  ),
]

const recalling: readonly Rule[] = [
  rule(
    /^(?:tell me )?(?:what|which things|everything|all)(?: all| else| things)? (?:that )?(?:do |did |can |have )?you (?:know|remember|recall|remembered|learned|learnt|saved|stored)(?: (?:about|of) me)?(?: so far| by now)?[?.! ]*$/i,
    all,
  ),
  rule(
    /^(?:show|list|tell|give|read)(?: me)? (?:all )?(?:of )?(?:my|your|the) (?:memories|facts|memory)[?.! ]*$/i,
    all,
  ),
  rule(
    /^(?:what|which) (?:memories|facts) (?:do you have|are there|have you got|have you)(?: (?:about|of) me)?[?.! ]*$/i,
    all,
  ),
  rule(/^what have you (?:learned|learnt|remembered|stored|saved)(?: about me)?(?: so far)?[?.! ]*$/i, all),
  rule(/^(?:who am i|what(?:'s| is) in your memory|my memories|memories)[?.! ]*$/i, all),
  rule(
    /^(?:tell me )?(?:what|everything|all|anything)(?: all| else)? (?:that )?(?:do |did |can )?you (?:know|remember|recall|have)(?: saved| stored)? (?:about|of|on|regarding|for)\s+(.+)$/is,
    lookUp(true),
  ),
  rule(
    /^what (?:did|have) i (?:tell|told|say to|said to) you (?:about|of|on|regarding)\s+(.+)$/is,
    lookUp(true),
  ),
  rule(/^(?:do|did) you (?:know|remember|recall) anything (?:about|of|on)\s+(.+)$/is, lookUp(true)),
  rule(/^(?:recall|look up in (?:your )?memory|check your memory (?:for|about))\s+(.+)$/is, lookUp(true)),
  rule(/^tell me (?:again )?about\s+(.+)$/is, lookUp(true)),
  rule(
    /^(?:find|show|list|get|give|tell|look up|search(?: for)?)(?: me)? (?:everything|anything|all|whatever|something)(?: (?:that )?(?:you|i) (?:know|have|remember|find|said|told you))? (?:about|on|of|regarding)\s+(.+)$/is,
    lookUp(true),
  ),
  rule(/^(?:do|can|could) you (?:still )?(?:know|remember|recall|tell me)\s+(.+)$/is, lookUp(false)),
  rule(
    /^(?:tell me|remind me(?: of)?|recall)(?: again)?\s+((?:who|what|when|where|which|whose|how)\b.+)$/is,
    lookUp(false),
  ),
  rule(/^remind me of\s+(.+)$/is, lookUp(false)),
]

const remembering: readonly Rule[] = [
  // "Remember my sister's name?" asks; "can you remember that I like tea?" does not.
  (request) => {
    const isAsking = /^remember\b(?! that\b).*[?？]\s*$/is.test(request.text)
    return isAsking ? lookUp(false)([request.original.slice('remember'.length)]) : null
  },
  rule(/^remember (?:when|how|where|who|what|why)\b(?! to\b)(.*)$/is, (groups, { text }) =>
    isQuestion(text) ? lookUp(false)(groups) : remember([text.slice('remember '.length)]),
  ),
  rule(
    /^(?:remember|memori[sz]e|keep in mind|bear in mind|(?:don't|do not|never) (?:ever )?forget|take note|make a mental note|learn)(?:\s*[:,-]\s*|\s+)(?:(?:this|the following)(?: fact)?(?:\s*[:,-]\s*|\s+(?=that\b)))?(?:for (?:me|later|the future)[:,]?\s+)?(?:that|the fact that|of the fact that)?\s*[:,]?\s*(.+)$/is,
    remember,
  ),
  rule(
    /^(?:remember|memori[sz]e|keep in mind)(?: (?:this|that|it|something))?[.!: ]*$/i,
    () => WHAT_TO_REMEMBER,
  ),
  rule(
    /^(?:save|store|keep|add|put|commit) (?:this |that |it )?(?:to|in|into)(?: your| the)? (?:memory|memories)\s*[:,]?\s*(?:that )?(.+)$/is,
    remember,
  ),
  rule(/^(?:for the record|for future reference|for your memory)\s*[:,]\s*(.+)$/is, remember),
  rule(/^(?:note that|take note that|please note that)\s+(.+)$/is, remember),
  rule(
    /^([^\n]{3,1500}?)[.,;!]?\s+(?:please )?(?:remember (?:that|this|it)|keep (?:that|this|it) in mind|(?:don't|do not) forget (?:that|this|it))(?: please)?[.! ]*$/is,
    (groups, { text }) => (isQuestion(text) ? null : remember(groups)),
  ),
]

/** Asks for something without a question. After all others: "show me the shopping list" is a note. */
export const askingRule: Rule = rule(
  /^(?:tell|give|show) me(?: again)?\s+((?:my|our|the)\s.{2,200})$/is,
  lookUp(false),
)

export const forgetRule: Rule = firstOf(forgetting)
export const recallRule: Rule = firstOf(recalling)
export const rememberRule: Rule = firstOf(remembering)
