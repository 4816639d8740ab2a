import { cleanValue, cutPlace, type Found, type Rule, valueRule } from './rule.ts'

/** English statements about oneself: "I live in …", "I'm allergic to …", "I love …". */

const ADVERB =
  '(?:really|absolutely|just|also|still|do|actually|always|currently|now|honestly|truly|totally|definitely|simply|quite|only|mostly|especially|so|very much)'
const I = '(?:i|we)'
const AM = "(?:i'm|i am|im|we're|we are)"
const HAVE =
  "(?:i have|i've|i've got|i have got|we have|we've|we've got|i own|we own|i got|i adopted|we adopted|i bought|we bought|i just adopted|we just adopted)"

const place = (pattern: RegExp, slot: string): Rule => ({
  pattern,
  read: ({ value = '' }) => {
    const clean = cleanValue(cutPlace(value))
    return clean === null ? null : { kind: 'identity', slot, value: clean, singleValued: true }
  },
})

/** Liking and disliking share slot and value, and differ only in sign. */
const taste: Rule = {
  pattern: new RegExp(
    `^i (?:${ADVERB} )*(?:like|love|enjoy|adore|prefer|hate|dislike|detest|loathe|can't stand|cannot stand|don't like|do not like|don't enjoy|don't love|no longer like|no longer love|no longer enjoy) (?<value>.+)$`,
    'is',
  ),
  read: ({ value = '' }) => {
    const clean = cleanValue(
      value
        .replace(/(?<!\s)\s+(?:very much|a lot|so much|at all|the most|best)\b.*$/is, '')
        .replace(/(?<![\s,]),?\s+it(?:'s| is)? .*$/is, ''),
    )
    return clean === null || clean.split(/\s+/).length > 8
      ? null
      : { kind: 'preference', slot: 'taste', value: clean }
  },
}

const diet: Rule = {
  pattern: new RegExp(
    `^i (?:${ADVERB} )*(?:don't|do not|never|can't|cannot|no longer|stopped|quit|gave up|have stopped|have quit|avoid) ?(?:${ADVERB} )*(?<verb>eating|eat|drinking|drink|smoking|smoke|taking|take)?\\b(?: any)? ?(?<value>.*)$`,
    'is',
  ),
  read: ({ verb = '', value = '' }) => {
    if (verb === '') return null
    const object = cleanValue(value)
    const base = verb
      .toLowerCase()
      .replace(/ing$/, '')
      .replace(/^smok$/, 'smoke')
      .replace(/^tak$/, 'take')
    if (base === 'take' && object === null) return null
    return { kind: 'preference', slot: base, value: object ?? verb.toLowerCase() }
  },
}

/** Roles and professions, by their endings. Excludes states like "I'm a bit tired". */
const ROLE =
  /(?:^|\s)(?:\p{L}+(?:er|or|ist|ian|eer|ant|ant|man|woman)|nurse|chef|vegan|vegetarian|pescatarian|student|parent|mother|father|mum|mom|dad|twin|citizen|native|veteran|ceo|cto|cfo|architect|coach|cook|judge|clerk|guide|diabetic|celiac|coeliac|widow|scientist|dentist|pilot|surgeon|consultant|accountant|researcher|freelancer|christian|muslim|buddhist|jew|hindu|atheist|morning person|night owl|early bird|person|lawyer|agent|assistant|monk|nun|priest|pastor|soldier|translator|grandmother|grandfather|grandparent)$/iu
const NOT_A_ROLE =
  /\b(?:bit|little|lot|fan|tad|matter|fool|idiot|genius|mess|wreck|believer|beginner|number|loser|winner|stranger|sucker|goner|millionaire|killer)\b/i

const role: Rule = {
  pattern: new RegExp(
    `^${AM} (?:${ADVERB} )*an? (?<value>[\\p{L}' -]{3,60}?)(?<rest> (?:at|in|for|with|from|by|and|of) .+)?$`,
    'isu',
  ),
  read: ({ value = '', rest = '' }) => {
    const clean = cleanValue(value)
    if (clean === null || NOT_A_ROLE.test(clean) || !ROLE.test(clean)) return null
    return { kind: 'identity', slot: 'role', value: cleanValue(`${clean}${rest}`) ?? clean }
  },
}

const STATES: readonly (readonly [RegExp, string, boolean])[] = [
  [/^(?:vegan|vegetarian|pescatarian|teetotal)$/i, 'diet', true],
  [
    /^(?:(?:lactose|gluten|fructose|histamine)[ -]?intolerant|celiac|coeliac|diabetic|asthmatic|dyslexic|colou?r-?blind|epileptic|anaemic|anemic|deaf|blind|short-sighted|nearsighted|far-sighted)$/i,
    'health',
    false,
  ],
  [/^(?:married|single|divorced|engaged|widowed|separated)(?: to .+)?$/i, 'marital status', true],
  [/^(?:left|right)-?handed$/i, 'handedness', true],
  [/^(?:retired|unemployed|self-employed|on parental leave|on sabbatical)$/i, 'employment', true],
  [/^\d{1,3}(?: years old)?$/i, 'age', true],
  [
    /^\d(?:[.,]\d{1,2})? ?m(?:etres?|eters?)?(?: tall)?$|^\d{2,3} ?cm(?: tall)?$|^\d['’]\d{0,2}"?(?: tall)?$/i,
    'height',
    true,
  ],
  [/^\d{2,3}(?:[.,]\d)? ?(?:kg|kilos?|kilograms?|pounds|lbs?|stone)$/i, 'weight', true],
]

const state: Rule = {
  pattern: new RegExp(`^(?:${AM}|i've been|i have been|i weigh) (?:${ADVERB} )*(?:not )?(?<value>.+)$`, 'is'),
  read: ({ value = '' }) => {
    const clean = cleanValue(value.replace(/(?<!\s)\s+(?:since|for) .*$/is, ''))
    if (clean === null) return null
    const found = STATES.find(([pattern]) => pattern.test(clean))
    return found ? { kind: 'identity', slot: found[1], value: clean, singleValued: found[2] } : null
  },
}

const OWNED =
  /^(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|\d+|some|twin) (?:[\p{L}-]+ ){0,3}?(?<noun>dogs?|cats?|pupp(?:y|ies)|kittens?|hamsters?|rabbits?|parrots?|horses?|ponies|pony|fish|goldfish|turtles?|tortoises?|birds?|snakes?|lizards?|chickens?|goats?|llamas?|guinea pigs?|sons?|daughters?|child|children|kids?|brothers?|sisters?|siblings?|twins?|cousins?|nephews?|nieces?|grandchild|grandchildren|grandsons?|granddaughters?|cars?|bikes?|bicycles?|motorbikes?|motorcycles?|scooters?|boats?|vans?|houses?|flats?|apartments?|cottages?|gardens?|pianos?|guitars?|violins?|cellos?|drums?|tattoos?|allergy|phobia|degree|phd|pension|licen[cs]e|subscription|passport)\b/iu

const owned: Rule = {
  pattern: new RegExp(`^${HAVE} (?<value>.+)$`, 'i'),
  read: ({ value = '' }) => {
    const clean = cleanValue(value)
    const noun = clean === null ? undefined : OWNED.exec(clean)?.groups?.noun
    if (clean === null || noun === undefined) return null
    const isAllergy = /^(?:an?) (?<what>.+?) allergy$/i.exec(clean)?.groups?.what
    if (isAllergy) return { kind: 'identity', slot: 'allergy', value: isAllergy }
    return { kind: 'relation', slot: noun.toLowerCase(), value: clean }
  },
}

const born: Rule = {
  pattern: /^i was born (?:on|in|at)? ?(?<value>.+)$/i,
  read: ({ value = '' }) => {
    const clean = cleanValue(value)
    if (clean === null) return null
    const isDate = /\d/.test(clean)
    return { kind: 'identity', slot: isDate ? 'birthday' : 'birthplace', value: clean, singleValued: true }
  },
}

const HABIT_VERB =
  /^(?:thought|said|knew|wondered|forget|forgot|wanted|want|feel|felt|get|got|have to|had|need|think|know|wonder|wished|hoped|assumed|end up|seem)\b/i
const habit: Rule = {
  pattern:
    /^i (?:always|usually|normally|generally|typically|every (?:morning|day|evening|night|week|weekend|monday|tuesday|wednesday|thursday|friday|saturday|sunday)) (?<value>.+)$/i,
  read: ({ value = '' }) => {
    const clean = cleanValue(value)
    return clean === null || HABIT_VERB.test(clean)
      ? null
      : { kind: 'procedure', slot: 'habit', value: clean }
  },
}

const ceased: Rule = {
  pattern:
    /^i (?:no longer|don't|do not) (?<verb>live|work|play|have|own|speak|drive|study) ?(?<link>in|at|for|with|the|an?)? ?(?<value>.+?)$/i,
  read: ({ verb = '', value = '' }) => {
    const clean = cleanValue(cutPlace(value))
    const slot: Found['slot'] =
      {
        live: 'residence',
        work: 'employer',
        play: 'plays',
        have: 'has',
        own: 'has',
        speak: 'language',
        drive: 'drives',
        study: 'studies',
      }[verb.toLowerCase()] ?? ''
    return clean === null || slot === '' ? null : { kind: 'identity', slot, value: clean }
  },
}

export const selfRules: readonly Rule[] = [
  place(
    new RegExp(
      `^(?:${AM}|${I}) (?:${ADVERB} )*(?:live|living|reside|residing|based|settled) (?:${ADVERB} )*(?:in|at|on|near) (?<value>.+)$`,
      'is',
    ),
    'residence',
  ),
  place(
    new RegExp(
      `^${I}(?:'ve| have)? (?:just |recently |finally |actually |now )*(?:moved|relocated) (?:back |over |house )?(?:from [\\p{L} ]+? )?to (?<value>.+)$`,
      'isu',
    ),
    'residence',
  ),
  place(
    /^(?:[Hh]ome is|[Mm]y home is(?: in)?|[Ii] call) (?<value>[\p{Lu}][\p{L} .'-]+?)(?: (?:my )?home)?$/u,
    'residence',
  ),
  place(
    new RegExp(`^(?:${AM}|i come|we come) (?:${ADVERB} |originally )*from (?<value>.+)$`, 'is'),
    'origin',
  ),
  place(
    new RegExp(`^(?:${AM} |i )(?:${ADVERB} )*(?:work|working) (?:at|for|with) (?<value>.+)$`, 'is'),
    'employer',
  ),
  place(
    /^[Ii](?:'ve| have)? (?:just |recently |finally )*(?:started (?:working |a (?:new )?job )?at|got a (?:new )?job at|joined|switched to|took a job at|started at|moved to a new job at|got hired (?:at|by)|been hired by|was hired by|work at) (?<value>\p{Lu}.+)$/u,
    'employer',
  ),
  valueRule(new RegExp(`^(?:${AM} |i )(?:${ADVERB} )*(?:work|working) as (?:an? )?(?<value>.+)$`, 'is'), {
    kind: 'identity',
    slot: 'profession',
    singleValued: true,
  }),
  valueRule(
    new RegExp(
      `^${AM} (?:not )?(?:${ADVERB} |severely |badly |deathly |highly |mildly )*allergic to (?<value>.+)$`,
      'is',
    ),
    { kind: 'identity', slot: 'allergy' },
  ),
  valueRule(/^(?:i am|i'm) called (?<value>.+)$/i, { kind: 'identity', slot: 'name', singleValued: true }),
  valueRule(
    /^(?:[Pp]lease |[Yy]ou can |[Jj]ust )?[Cc]all me (?<value>\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+)?)$/u,
    {
      kind: 'identity',
      slot: 'name',
      singleValued: true,
    },
  ),
  born,
  taste,
  diet,
  state,
  role,
  owned,
  ceased,
  valueRule(/^[Ii] (?:can )?(?:also )?speak (?:fluent |some |a bit of |a little )?(?<value>\p{Lu}.+)$/u, {
    kind: 'identity',
    slot: 'language',
  }),
  valueRule(/^i (?:also )?play (?:the )?(?<value>[\p{L} -]{3,40})$/iu, { kind: 'preference', slot: 'plays' }),
  valueRule(/^i(?:'m| am)? (?:also )?study(?:ing)? (?<value>.+)$/i, { kind: 'identity', slot: 'studies' }),
  valueRule(/^i drive (?:an? )?(?<value>.+)$/i, { kind: 'identity', slot: 'drives' }),
  habit,
]
