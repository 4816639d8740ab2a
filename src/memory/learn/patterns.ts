import { resolveDates } from '../../text/dates.ts'
import { sentencesOf } from '../../text/text.ts'
import type { Candidate, MemoryKind } from './candidate.ts'
import { isDoubtful, requestedIn } from './cues.ts'

/** What a pattern reads from a sentence. The sentence itself becomes the memory's text. */
type Found = {
  readonly kind: MemoryKind
  readonly slot: string
  readonly value: string
  readonly subject?: string
  readonly singleValued?: boolean
}
type Groups = Readonly<Record<string, string | undefined>>
type Pattern = readonly [pattern: RegExp, read: (groups: Groups) => Found | null]

const I_AM = "(?:i'm|i am|im)"
const NOW = '(?: now| currently| actually| really| also| just| still)*'

/** What may end a statement, and does not belong to its value. */
const ASIDE = / (?:now|these days|at the moment|right now|any ?more|too|as well)$/iu
/** What may follow the name of a place or a company. */
const AFTER_NAME = / (?:since|last|because|with|near|beside|next to|close to|yesterday|today|now|too)\b.*$/isu

/** Whether only one value can be true at a time. If in doubt, no: then both statements stay, with their dates. */
type IsSole = (value: string) => boolean

/** "Porto", "the Netherlands", "Frankfurt am Main", "Marks & Spencer". */
const isName: IsSole = (value) =>
  /^(?:(?:the|of|upon|am|an|de|der|del|du|la|le|sur|&)\s+|\p{Lu}[^\d\s]*(?:\s+|$))+$/u.test(value)
const isNumber: IsSole = (value) =>
  /\d/u.test(value) && value.split(/\s+/).every((word) => /[\d\p{Lu}]|^(?:on|the|of)$/u.test(word))

const as =
  (kind: MemoryKind, slot: string, isSole?: IsSole) =>
  (groups: Groups): Found => {
    const value = (groups.value ?? '').replace(ASIDE, '').replace(isSole ? AFTER_NAME : '', '')
    return { kind, slot, value, singleValued: isSole?.(value) ?? false }
  }

/** Things with one number at a time. */
const NUMBERED =
  /^(?:(?:phone|mobile|home|work) )?number$|(?:^|\s)(?:address|birthday|anniversary|password|passcode|username|iban|plate|pin|code|size)$/iu
/** "My mobile is a Pixel 8" and "my password is in the safe" say something else. */
const SOLE = /(?:^|\s)(?:(?:mobile|phone) is \+?[\d ()/-]+|(?:password|username|e-?mail) is \S+)$/iu
const BIRTH = /^(?:birthday|date of birth)$/iu
const ELSEWHERE = /^(?:in|on|at|\d+)\b/iu

/** "My phone number is …": kept where the value is a name or a number, or the thing is somebody's favourite. */
function possession({ thing = '', value = '' }: Groups): Found | null {
  const isFavourite = /^favou?rite\b/iu.test(thing)
  if (!isFavourite && !/\d/u.test(value) && !/\p{Lu}/u.test(value)) return null
  const named = thing.toLowerCase().replace(/^favorite/u, 'favourite')
  const slot = BIRTH.test(named) ? 'birthday' : named
  return {
    kind: isFavourite ? 'preference' : 'identity',
    slot,
    value,
    singleValued: isFavourite
      ? !ELSEWHERE.test(value)
      : (NUMBERED.test(slot) && isNumber(value)) || SOLE.test(`${slot} is ${value}`),
  }
}

/** "My friend" may be another friend each time. */
const ONE_PERSON = /^(?:mother|mum|mom|father|dad|wife|husband|partner)$|\p{Lu}/u

const ofPerson =
  (slot: string, isSole?: IsSole) =>
  ({ person = '', ...groups }: Groups): Found => {
    const isOne = ONE_PERSON.test(person) ? isSole : undefined
    return { ...as('relation', slot, isOne)(groups), subject: person }
  }

const THING = "(?<thing>[\\p{L}][\\p{L}'’-]*(?: [\\p{L}'’-]+){0,3}?)"
const PERSON =
  "(?<person>(?:[\\p{L}-]+ )?(?:sister|brother|mother|mum|mom|father|dad|wife|husband|partner|boyfriend|girlfriend|friend|boss|colleague|neighbou?r|cousin|uncle|aunt|niece|nephew|son|daughter|grandma|grandmother|grandpa|grandfather|dog|cat)(?: \\p{Lu}[\\p{L}'-]+)?)"

const says = (words: string, flags = 'iu') => new RegExp(`^${words} (?<value>.{2,60})$`, flags)

/** Plain statements that start with "I", "we" or "my". The first match counts. */
const PATTERNS: readonly Pattern[] = [
  [
    /^my name is (?!not\b|wrong\b|mis|spel)(?<value>[\p{L}][\p{L}' -]{0,40})$/iu,
    // Many people write names in lower case.
    as('identity', 'name', (value) => isName(value) || /^\p{L}+$/u.test(value)),
  ],
  [/^[Cc]all me (?<value>\p{Lu}[\p{L}' -]{0,40})$/u, as('identity', 'nickname', isName)],
  [says(`${I_AM}${NOW} allergic to`), as('identity', 'allergy')],
  [
    // "I lived in Halifax" is over.
    says(
      `(?:(?:i|we)${NOW} live in|${I_AM}${NOW} (?:living|based) in|i(?:'ve| have)?${NOW} (?:moved|relocated) to)`,
    ),
    as('identity', 'residence', isName),
  ],
  // "We moved to Gmail" names no place, so this replaces nothing.
  [/^[Ww]e(?:'ve| have)?(?: just)? moved to (?<value>(?:the )?\p{Lu}.{1,60})$/u, as('episode', 'move')],
  [says(`(?:i|we)${NOW} live at`), as('identity', 'address', isNumber)],
  [says(`i${NOW} work (?:at|for)`), as('identity', 'employer', isName)],
  [
    /^i work as (?:an? )?(?<value>[\p{L}-]{2,20}(?: [\p{L}-]{2,20})?)$/iu,
    as('identity', 'profession', () => true),
  ],
  [
    new RegExp(
      `^${I_AM}${NOW} (?<value>vegan|vegetarian|diabetic|left-handed|retired|married|divorced|colou?r-?blind)$`,
      'iu',
    ),
    as('identity', 'trait'),
  ],
  [/^i was born on (?<value>.{2,40})$/iu, as('identity', 'birthday', isNumber)],
  [
    /^i (?:really |absolutely |also )*(?:like|love|enjoy|adore|prefer|can't stand|don't like|do not like) (?!you\b)(?<value>[^.!?]{2,60})$/iu,
    as('preference', 'taste'),
  ],
  [
    /^i (?:really |absolutely |also )*(?:hate|dislike) (?!you\b)(?<value>[^.!?]{2,60})$/iu,
    as('preference', 'distaste'),
  ],
  [
    /^i (?:don't|do not|never|can't|cannot) (?:eat|drink) (?<value>[^.!?]{2,40})$/iu,
    as('preference', 'diet'),
  ],
  [/^i (?:can )?speak (?<value>\p{Lu}[\p{L} ,]{2,40})$/iu, as('identity', 'language')],
  [
    /^i (?:have|own|drive) (?<value>(?:an? |two |three |four |2 |3 |4 )[\p{L}][\p{L}\p{N} '-]{2,50})$/iu,
    as('identity', 'has'),
  ],
  [
    new RegExp(`^my ${THING}(?:'s name is| is (?:called|named)) (?<value>.{2,40})$`, 'iu'),
    ({ thing = '', ...groups }) =>
      as('relation', `${thing.toLowerCase()} name`, ONE_PERSON.test(thing) ? isName : undefined)(groups),
  ],
  [says(`[Mm]y ${PERSON} (?:lives|is living) in`, 'u'), ofPerson('residence', isName)],
  [says(`[Mm]y ${PERSON} works (?:at|for)`, 'u'), ofPerson('employer', isName)],
  [says(`[Mm]y ${PERSON} (?:likes|loves|enjoys|prefers)`, 'u'), ofPerson('taste')],
  [says(`[Mm]y ${PERSON} is allergic to`, 'u'), ofPerson('allergy')],
  [
    says(
      `(?:[Mm]y ${PERSON}|(?<person>\\p{Lu}[\\p{L}-]+))'s (?<slot>birthday|phone number|number|e-?mail|address) is(?: on)?`,
      'u',
    ),
    (groups) => ofPerson(groups.slot ?? '', isNumber)(groups),
  ],
  [says(`(?:my|our) (?:new |actual |current )?${THING} is${NOW}`), possession],
  [
    says(`i(?:'ve| have)? changed my ${THING} to`),
    ({ thing = '', ...groups }) => as('identity', thing.toLowerCase(), () => true)(groups),
  ],
]

const EVENT =
  /\b(?:appointment|meeting|interview|exam|flight|train|trip|holiday|wedding(?! anniversary)|surgery|party|concert|dinner|lunch|deadline|class|race|match|reservation|booking|visit|haircut|flying|going|travell?ing|driving|visiting|leaving|moving|starting)\b/iu
const PLANNED = /^(?:i have|i've got|my|our|we have|i'm|i am|we're|we are) (?<value>.{3,80})$/iu
/** A plan is over half a day after its day. */
const OVER_AFTER_MS = 36 * 60 * 60_000

const OPENING =
  /^(?:(?:actually|well|so|oh|ok|okay|hey|hi|hello|no|yes|yeah|sorry|and|but|also|btw|by the way|fyi|just so you know|anyway|for the record|correction|update|delegate)[\s,.!:;–-]+)+/iu
/** Where a second statement, or a request, begins in a sentence. */
const JOINT =
  /(?:[,;]\s*(?:and |but )?|\s(?:and|but) )(?=(?:i|i'm|my|i've|we|we're|we've|(?:please )?(?:remember|remind me|don't forget))\b)/iu
/** Another clause follows the value, which makes it unclear where that ends. */
const GOES_ON = /[,;]\s+(?:\S+\s+){4}\S/u
const MAX_CHARS = 8000

export type Spoken = { readonly at: string; readonly timezone: string }

/**
 * Reads plain English statements without a model: `remember …` and a few patterns. Whatever is unclear is left
 * to the raw turns, which recall finds as well.
 */
export function readPlainly(text: string, spoken: Spoken): Candidate[] {
  return sentencesOf(text.slice(0, MAX_CHARS).toWellFormed()).flatMap(({ text: sentence }) => {
    const requested = requestedIn(sentence)
    const stated = tidy(requested ?? sentence).replace(OPENING, '')
    if (requested === null && (sentence.endsWith('?') || isDoubtful(sentence))) return []
    const found = stated.split(JOINT).flatMap((part) => readStatement(tidy(part), spoken) ?? [])
    return found.length > 0 || requested === null ? found : [plain(tidy(requested))]
  })
}

function readStatement(text: string, spoken: Spoken): Candidate | null {
  const folded = text.replace(/[‘’]/g, "'")
  const plan = planIn(folded, spoken)
  if (plan) return { ...plain(text), ...plan }
  for (const [pattern, read] of PATTERNS) {
    const groups = pattern.exec(folded)?.groups
    const found = groups ? read(groups) : null
    if (found && found.value.split(/\s+/).length <= 10 && !GOES_ON.test(found.value))
      return { ...plain(text), ...found }
  }
  return null
}

/** A dated plan; null if no future date is given. */
function planIn(text: string, { at, timezone }: Spoken): Partial<Candidate> | null {
  const event = EVENT.exec(text)?.[0]
  const value = event && PLANNED.exec(text)?.groups?.value
  if (!value) return null
  const saidMs = Date.parse(at)
  const isAhead = ({ hasDay, instantMs }: { hasDay: boolean; instantMs: number }) =>
    hasDay && instantMs > saidMs
  const date = resolveDates(text, { at: new Date(at), timezone }).find(isAhead)
  if (!date) return null
  return {
    kind: 'plan',
    slot: event.toLowerCase(),
    value,
    modality: 'planned',
    eventTime: new Date(date.instantMs).toISOString(),
    validUntil: new Date(date.instantMs + OVER_AFTER_MS).toISOString(),
  }
}

/** A statement in the owner's words, with nothing read into it. */
export function plain(text: string): Candidate {
  return {
    kind: 'episode',
    subject: 'owner',
    slot: '',
    value: '',
    text,
    quote: text,
    modality: 'asserted',
    speaker: 'owner',
    secrecy: 'keep',
    singleValued: false,
    eventTime: null,
    validUntil: null,
    ends: null,
    keywords: [],
    relations: [],
  }
}

function tidy(text: string): string {
  return text.replace(/^[\s,;:–—-]+/u, '').replace(/(?<![\s,;:.!…–—-])[\s,;:.!…–—-]+$/u, '')
}
