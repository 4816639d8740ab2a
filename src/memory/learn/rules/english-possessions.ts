import { cleanValue, cutPlace, type Rule } from './rule.ts'

/** English statements about belongings and people: "my phone number is …", "my sister Ada lives in …". */

/** Things that a person has one of at a time. */
const UNIQUE =
  /(?:^|\s)(?:phone|number|mobile|cell|e-?mail|mail|address|birthday|anniversary|password|passcode|passphrase|pin|code|combination|login|username|handle|nickname|iban|id|passport|licen[cs]e|plate|registration|size|height|weight|type|age|job|profession|title|hometown|nationality|tongue|name|surname|team|dentist|doctor|gp|therapist|boss|manager|landlord|landlady|wife|husband|spouse|partner|girlfriend|boyfriend|fianc[eé]e?|mother|father|mum|mom|dad|employer|company|school|gym|bank|insurance|provider|seat|room|office|desk|locker|wifi|wi-fi|ssid|sign|religion|salary|rent|deadline)$/i
/** Things that a person may have several of. */
const SEVERAL =
  /(?:^|\s)(?:sister|brother|son|daughter|friend|colleague|coworker|co-worker|neighbou?r|cousin|uncle|aunt|niece|nephew|dog|cat|pet|hamster|rabbit|parrot|horse|car|bike|laptop|computer|language|hobby|kid|child|grandson|granddaughter|roommate|flatmate|teacher|coach|trainer|plumber|lawyer|accountant|doctor|client|student|idol|medication|allergy)s?$/i
/** Talk rather than facts: "my point is …". */
const ABSTRACT =
  /(?:^|\s)(?:point|question|guess|problem|issue|day|morning|evening|week|weekend|idea|concern|mind|head|bad|fault|turn|opinion|feeling|feelings|hope|mood|battery|internet|connection|thing|goal|plan|suggestion|answer|worry|fear|impression|thought|understanding|order|package|delivery|stomach|back|throat|eyes?|hands?|legs?|feet|heart|god|goodness|favou?rite part|only|first|next|last|apologies|pleasure|life|time|request|message|screen|app|browser|printer|favourite thing)$/i
/** Temporary states. */
const PASSING =
  /^(?:(?:so|too|very|really|always|still|already|almost|completely|totally|also|just|a bit|a little) )*(?:broken|dead|down|late|sick|ill|tired|here|there|home|away|out|off|on|empty|full|ready|gone|lost|missing|hungry|busy|slow|fast|fine|good|bad|great|ok|okay|nice|better|worse|ringing|cold|hot|wet|dirty|wrong|right|back|over|done|due|delayed|cancelled|canceled|about to|stuck|open|closed|closing|happy|sad|angry|excited|nervous|bored|killing|a mess|a disaster|amazing|awesome|terrible|horrible|beautiful|lovely|cute|crazy|annoying|funny|asleep|awake|drunk|mad|upset|important|expensive|cheap|\p{L}+ing)\b/iu

const NAME = "\\p{Lu}[\\p{L}'-]+(?: \\p{Lu}[\\p{L}'-]+)?"
const PERSON =
  '(?:(?:best|older|elder|younger|little|big|twin|ex|old|new|late) )?(?:sister|brother|mother|mum|mom|father|dad|wife|husband|partner|boyfriend|girlfriend|fianc[eé]e?|friend|boss|manager|colleague|coworker|co-worker|neighbou?r|cousin|uncle|aunt|niece|nephew|son|daughter|grandma|grandmother|grandpa|grandfather|grandson|granddaughter|parents|grandparents|kids|children|sons|daughters|sisters|brothers|in-laws|roommate|flatmate|teacher|doctor|dentist|therapist|landlord|mother-in-law|father-in-law|brother-in-law|sister-in-law|dog|cat|puppy|kitten|hamster|rabbit|parrot|horse)'

/** "My sister's name is Ada", "my dog is called Rex". */
const named: Rule = {
  pattern:
    /^my (?:(?:new|actual|current) )?(?<thing>[\p{L}' -]{2,40}?)(?:'s (?:first |full |last |maiden )?name(?: is|'s)| is (?:actually |now )?(?:called|named)|'s called) (?<value>.+)$/iu,
  read: ({ thing = '', value = '' }) => {
    const clean = cleanValue(value)
    if (clean === null) return null
    return {
      kind: SEVERAL.test(thing) || UNIQUE.test(thing) ? 'relation' : 'identity',
      slot: `${thing.toLowerCase()} name`,
      value: clean,
      singleValued: UNIQUE.test(thing),
    }
  },
}

const VERBS: readonly (readonly [RegExp, string, boolean])[] = [
  [
    /^(?:lives?|is living|are living|is based|are based|resides?) (?:in|at|on|near) (?<value>.+)$/i,
    'residence',
    true,
  ],
  [/^(?:has |just |recently )*(?:moved|relocated) (?:back )?to (?<value>.+)$/i, 'residence', true],
  [/^(?:works?|is working|are working) (?:at|for|with) (?<value>.+)$/i, 'employer', true],
  [/^(?:works|is working) as (?:an? )?(?<value>.+)$/i, 'profession', true],
  [/^is (?:not )?(?:badly |severely |very |really )*allergic to (?<value>.+)$/i, 'allergy', false],
  [
    /^(?:really |absolutely |just |also )*(?:likes|loves|enjoys|adores|prefers|hates|dislikes|detests|doesn't like|does not like|can't stand) (?<value>.+)$/i,
    'taste',
    false,
  ],
  [/^(?:studies|is studying) (?<value>.+)$/i, 'studies', false],
  [/^plays (?:the )?(?<value>.+)$/i, 'plays', false],
  [/^speaks (?<value>.+)$/i, 'language', false],
  [/^was born (?:on |in )?(?<value>.+)$/i, 'birthday', true],
  [
    /^(?:is|turned) (?<value>\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?: years old)?$/i,
    'age',
    true,
  ],
  [
    /^is (?<value>an? (?!(?:\p{L}+ )?(?:pain|mess|star|saint|joke|nightmare|legend|darling|angel|monster|bully|genius|idiot|jerk|mystery|disaster|bit|lot|joy|handful|bore|treasure|gem)\b)[\p{L} -]{3,40})$/iu,
    'role',
    false,
  ],
  [/^is (?<value>vegan|vegetarian|diabetic|left-handed|retired|married|divorced)$/i, 'state', false],
]

/** "My sister Ada lives in Turku". */
const ofPerson: Rule = {
  pattern: new RegExp(`^[Mm]y (?<person>${PERSON}),?(?: (?<name>${NAME}))?,? (?<statement>.+)$`, 'u'),
  read: ({ person = '', name = '', statement = '' }) => {
    for (const [pattern, slot, singleValued] of VERBS) {
      const value = pattern.exec(statement)?.groups?.value
      const clean =
        value === undefined
          ? null
          : cleanValue(slot === 'residence' || slot === 'employer' ? cutPlace(value) : value)
      if (clean !== null && !PASSING.test(clean))
        return {
          kind: 'relation',
          subject: [person, name].filter((part) => part !== '').join(' '),
          slot,
          value: clean,
          singleValued,
        }
    }
    return null
  },
}

const birthdayOf: Rule = {
  pattern:
    /^my (?<person>[\p{L}' -]{2,40}?)'s? (?<slot>birthday|phone number|number|e-?mail(?: address)?|address|anniversary) (?:is|'s) (?:on )?(?<value>.+)$/iu,
  read: ({ person = '', slot = '', value = '' }) => {
    const clean = cleanValue(value)
    return clean === null || PASSING.test(clean)
      ? null
      : { kind: 'relation', subject: person, slot: slot.toLowerCase(), value: clean, singleValued: true }
  },
}

/** "My phone number is …": a thing that is unique, or whose value is a name or a number. */
const possession: Rule = {
  pattern:
    /^(?:my|our) (?:(?:new|actual|current|own) )?(?<thing>[\p{L}][\p{L}' -]{1,40}?)(?: is| are|'s|:) (?:now |actually |currently |still )?(?:(?:on|in|at) )?(?<value>.+)$/iu,
  read: ({ thing = '', value = '' }) => {
    const clean = cleanValue(value)
    if (
      clean === null ||
      PASSING.test(clean) ||
      ABSTRACT.test(thing) ||
      /\b(?:i|you|we|they|that|which|who)\b/i.test(thing)
    )
      return null
    const favourite = /^favou?rite\b/i.test(thing)
    const isUnique = favourite || UNIQUE.test(thing)
    const tellsIt = /\d/.test(clean) || /^(?:an? |the )?["'“]?\p{Lu}/u.test(clean)
    if (!isUnique && !(SEVERAL.test(thing) && /\p{Lu}/u.test(clean)) && !tellsIt) return null
    const slot = thing.toLowerCase().replace(/^favorite/, 'favourite')
    return {
      kind: favourite ? 'preference' : 'identity',
      slot: /^(?:full |first |real )?name$/.test(slot) ? 'name' : slot,
      value: clean,
      singleValued: isUnique,
    }
  },
}

/** "I changed my number to …". */
const changed: Rule = {
  pattern:
    /^(?:i|we)(?:'ve| have)? (?:just |recently )*(?:changed|switched|updated|moved|renamed) (?:my|our) (?<thing>[\p{L}' -]{2,40}?) (?:to|into|over to) (?<value>.+)$/iu,
  read: ({ thing = '', value = '' }) => {
    const clean = cleanValue(value)
    return clean === null
      ? null
      : { kind: 'identity', slot: thing.toLowerCase(), value: clean, singleValued: true }
  },
}

export const possessionRules: readonly Rule[] = [named, birthdayOf, ofPerson, changed, possession]
