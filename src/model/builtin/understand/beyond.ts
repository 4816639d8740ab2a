import { type Plan, say } from '../plan.ts'
import { NEEDS_MODEL } from '../wording.ts'
import { firstOf, type Request, type Rule, rule } from './rules.ts'

const NOTHING_SENT = say(`Nothing was sent: I write to nobody by myself. ${NEEDS_MODEL}`)
const NOBODY_REACHED = say('Nothing was done: I can call nobody and send no mail.')
const SOMEBODY = '(?!(?:me|it|us|from|to me|for me)\\b)[\\p{L}+\\d]'
/** "Phone number is 4711". */
const STATES = /^\S+(?: \S+){0,3}(?: (?:is|are|was|were|has|had|came)\b|:)/i

const unlessStated =
  (plan: Plan) =>
  (_groups: readonly string[], { text }: Request): Plan | null =>
    STATES.test(text) ? null : plan

/** What is asked for and would reach others: said plainly not to be done, rather than taken for a statement. */
export const beyondRule: Rule = firstOf([
  rule(new RegExp(`^(?:text|sms|message|whatsapp)\\s+${SOMEBODY}`, 'iu'), unlessStated(NOTHING_SENT)),
  rule(
    /^send\s+(?!me\b)(?:[^\n]{1,60}\s)?(?:an?\s+|the\s+)?(?:text|sms|message|whatsapp)\b/iu,
    () => NOTHING_SENT,
  ),
  rule(
    new RegExp(`^(?:call|phone|ring|dial|e-?mail)\\s+(?!(?:this|that|an?)\\b)${SOMEBODY}`, 'iu'),
    unlessStated(NOBODY_REACHED),
  ),
])
