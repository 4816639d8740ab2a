import { itemIn } from '../../../text/list-item.ts'
import {
  firstOf,
  type Intent,
  on,
  type Reply,
  report,
  type Steps,
  type StepsTo,
  use,
  type World,
} from '../intent.ts'
import { whyNot } from '../results.ts'
import { bullets, capitalise, joinWords, tidy, toContent } from '../text.ts'
import { dueToday } from './agenda.ts'
import { tickOff } from './move-timer.ts'
import { justNamed, linked, NEW, RESTORE } from './notes.ts'
import { naming } from './which-timer.ts'

export const ADDED = 'Added to your'
export const STARTED = 'I started a'
export const ON_LIST = 'On your'

/** The list that a reply of the delegate links to. */
export const listIn = (reply: string) => /\[([^[\]]{1,100} list)\]/.exec(reply)?.[1]

/** Asks what a new list holds: a note can't be empty. */
export const ASK_ITEMS = 'What should go on your'

/** A list is a note whose lines start with "- ". Double quotes request an exact title. */
const noteOf = (name: string) => `"${name.replaceAll('"', '')}"`

function* add(name: string, items: readonly string[]): Steps {
  const lines = items.map((item) => `- ${item}`).join('\n')
  const added = yield* use('update_note', { query: noteOf(name), append: lines })
  const isNew = added.reason === 'not_found'
  const outcome = isNew ? yield* use('create_note', { title: capitalise(name), content: lines }) : added
  if (!outcome.ok) return whyNot(outcome)
  const list = linked(outcome.note?.id, name)
  return `${isNew ? STARTED : ADDED} ${list}: ${joinWords(items)}.`
}

function* show(name: string): Steps {
  const outcome = yield* use('read_note', { query: noteOf(name) })
  const { note } = outcome
  if (!outcome.ok && outcome.reason !== 'not_found') return whyNot(outcome)
  const items = (note?.content ?? '')
    .split('\n')
    .map(itemIn)
    .filter((item) => item !== '')
  if (items.length === 0) return `There is nothing on your ${name}.`
  return `${ON_LIST} ${linked(note?.id, name)}:\n\n${bullets(items)}`
}

const showAll = () =>
  report('list_notes', { query: 'list' }, ({ notes }) => {
    const lists = notes.filter(({ title = '' }) => /\blist$/i.test(title))
    if (lists.length === 0) return 'You have no lists yet. Say “Add milk to my shopping list”.'
    return bullets(lists.map(({ id, title = '' }) => linked(id, title)))
  })

/** The to-do list, and what is due today. */
function* toDo(world: World): Steps {
  const list = yield* show('to-do list')
  const due = yield* dueToday(world)
  return due.length === 0 ? list : `${list}\n\nDue today:\n\n${bullets(due)}`
}

/**
 * Takes items off the first of these lists that has them; null if none has. The note tool finds the lines, so no note
 * is read first.
 */
function* takeOff(items: readonly string[], names: readonly string[]): StepsTo<string | null> {
  for (const name of names) {
    const outcome = yield* use('update_note', { query: noteOf(name), remove: items.join('\n') })
    if (outcome.reason === 'not_found') continue
    if (outcome.reason === 'empty') return yield* clear(name)
    if (!outcome.ok) return whyNot(outcome)
    const { absent, note } = outcome
    const taken = items.filter((item) => !absent.includes(item))
    const lacking = absent.length === 0 ? '' : ` I don’t see ${joinWords(absent)} there.`
    return `Taken off your ${linked(note?.id, name)}: ${joinWords(taken)}.${lacking}`
  }
  return null
}

const notOn = (...names: readonly string[]) => `I don’t see that on your ${names.join(' or ')}.`

function* takeOffNamed(name: string, items: readonly string[]): Steps {
  return (yield* takeOff(items, [name])) ?? notOn(name)
}

/** "Done with the soup" may also mean a reminder that is due. */
function* takeOffFirst(items: readonly string[], names: readonly string[]): Steps {
  return (yield* takeOff(items, names)) ?? (yield* tickOff(naming(items.join(' ')))) ?? notOn(...names)
}

/** A note can't be empty, so clearing a list deletes its note. */
function* clear(name: string): Steps {
  const outcome = yield* use('delete_note', { query: noteOf(name) })
  if (outcome.reason === 'not_found') return `There is nothing on your ${name}.`
  return outcome.ok ? `Your ${name} is empty now. ${RESTORE}` : whyNot(outcome)
}

/** Normalises a list name: "the list" is the shopping list. */
function listName(words: string): string {
  const plain = tidy(words).replace(/^(?:(?:the|my|our|a|an|that|this) )+/i, '')
  if (/^(?:it|list|)$/i.test(plain)) return 'shopping list'
  if (/^to[ -]?do'?s?(?: list)?$/i.test(plain)) return 'to-do list'
  if (/^(?:groceries|grocery)(?: list)?$/i.test(plain)) return 'shopping list'
  return /list$/i.test(plain) ? plain : `${plain} list`
}

function itemsOf(text: string): string[] {
  const items = text.split(/[,;\n]| and /i).map((item) => tidy(item).replace(/^(?:and|also|some) /i, ''))
  return items.filter((item) => !/^(?:it|this|that|them|these|those|)$/i.test(item))
}

const latestList = ({ conversation: { past } }: World) =>
  past.flatMap(({ reply }) => listIn(reply) ?? []).slice(0, 1)

/** Takes items off the list that was named last, or else one of those that most people have. */
function takeOffAny(groups: readonly string[], world: World): Reply | null {
  const items = itemsOf(firstOf(groups))
  const names = new Set([...latestList(world), 'shopping list', 'to-do list'])
  return items.length === 0 ? null : takeOffFirst(items, [...names])
}

function* takeOffIfListed(items: readonly string[], names: readonly string[]): Steps {
  return (yield* takeOff(items, names)) ?? 'Noted.'
}

/** "I got the eggs", of the list just shown or the shopping list. It may also tell something that is on no list. */
function takeOffGot(groups: readonly string[], world: World): Reply | null {
  const items = itemsOf(firstOf(groups))
  return items.length === 0
    ? null
    : takeOffIfListed(items, [...new Set([...latestList(world), 'shopping list'])])
}

type Act = (name: string, items: readonly string[]) => Steps

/** Runs a list action on the items and the list name in the given groups. */
const act =
  (steps: Act, [itemsAt, nameAt]: readonly [number, number]) =>
  (groups: readonly string[]): Reply | null => {
    const items = itemsOf(toContent(groups[itemsAt] ?? ''))
    return items.length === 0 ? null : steps(listName(groups[nameAt] ?? ''), items)
  }

const LIST = "((?:the |my |our |that |this |a )?(?:(?:[^ ]+ ){0,4}list|to-?do'?s?|to do|groceries))"
const OFF = '(?:delete|remove|erase|take|cross|strike|scratch|tick|drop|check)(?: off)?'

export const listIntents: readonly Intent[] = [
  on(
    `(?:(?:i |we )?(?:need|want) |add |buy |get )?(.{1,300}?)[,.;:!]? (?:(?:so|and|please) )*(?:add|put|write) (?:them|it|that|those|these) (?:to|on|onto|in|into) ${LIST}`,
    act(add, [0, 1]),
    'content',
  ),
  on(`(?:add|append|put|write) (?:to|on|onto|in|into) ${LIST}[:,] (.+)`, act(add, [1, 0])),
  on(
    [
      '(?:add|append|put|write) (.{1,300}) (?:to|on) (?:there|it|that)(?: too| as well)?',
      '(?:add|append|put|write) (?:to|on) (?:there|it|that)[:,] (.+)',
    ],
    (groups, world) => {
      const [name] = latestList(world)
      const isOther = justNamed(world) !== undefined && !listIn(world.conversation.past[0]?.reply ?? '')
      return name === undefined || isOther ? null : act(add, [0, 1])([firstOf(groups), name])
    },
  ),
  on(`${NEW}(?: me)? (?:a |the )(?:new )?list (?:of|for|called|named) ([^:]{1,60}): (.+)`, act(add, [1, 0])),
  on('(?:add|new|create)(?: a| an)?(?: new)? (?:task|to-?do)(?: item)?(?: to |[:,] )(.+)', ([items = '']) =>
    act(add, [0, 1])([items, 'to-do list']),
  ),
  on(`(?:add|append|put|write|include|i need) (.{1,1500}) (?:to|on|onto|in|into) ${LIST}`, act(add, [0, 1])),
  on(
    [
      `${NEW}(?: me)? (?:a |an |my |the )(?:new )?((?:[^ :,]+ ){0,4}list)(?: for [^:,]{1,40})?(?:[:,]| with) (.+)`,
      `${NEW}(?: me)? (?:a |an |my |the )(?:new )?((?:[^ :,]+ ){1,4}list) of (.+)`,
    ],
    (groups) => {
      const [name, items] = groups.filter((group) => group !== '')
      return act(add, [1, 0])([name ?? '', items ?? ''])
    },
  ),
  on(
    [
      `${NEW}(?: me)? (?:a |an |my )?(?:new )?list(?: (?:called|named|for) ([^:]{1,60}))?`,
      `${NEW}(?: me)? (?:a |an )(?:new )?((?:[^ :,]+ ){1,3}list)`,
    ],
    (groups) => `${ASK_ITEMS} ${listName(firstOf(groups))}?`,
  ),
  on('(?:my |the |our )?((?:shopping|grocery|to-?do|packing) list): ?(.+)', act(add, [1, 0])),
  on(`${OFF} (.{1,300}?) (?:from|off|out of|off of|on) ${LIST}`, act(takeOffNamed, [0, 1])),
  on([`${OFF} (.{1,300}?) (?:from|off) (?:it|there)`, 'take (.{1,200}) off'], (groups, world) => {
    const [name] = latestList(world)
    return name === undefined ? null : act(takeOffNamed, [0, 1])([firstOf(groups), name])
  }),
  on(
    [
      '(?:cross|check|tick|strike|scratch) off (.{1,200})',
      '(?:cross|check|tick|strike|scratch) (.{1,200}) off',
      '(?:done|finished) with (.{1,200})',
      'mark (.{1,200}?)(?: as)? (?:done|bought|completed?|finished)',
    ],
    takeOffAny,
  ),
  on(
    [
      "(?:(?:i|we)(?:'ve| have)?(?: already)? )?(?:got|bought|picked up|packed) (.{1,100})",
      '(.{1,100}) (?:is|are) (?:done|bought|packed)(?: now)?',
    ],
    takeOffGot,
  ),
  on(`(?:clear|empty|delete|remove|erase|trash|wipe|reset) ${LIST}`, ([name = '']) => clear(listName(name))),
  on(
    'what (?:else )?(?:do i have to do|have i got to do|should i do|do i need to do)(?: today)?',
    (_groups, world) => toDo(world),
  ),
  on(
    [
      `(?:read|open|show|display|give|tell|view|see|check)(?: me)?(?: what(?:'?s| is) on)? ${LIST}(?: (?:to me|aloud|out))?`,
      `(?:what(?:'?s| is| are| do i have)?|(?:is there )?anything|do i have anything)(?: left| still)?(?: in| on)? ${LIST}(?: (?:right now|so far|again|today))?`,
      `(?:is|are|do i have|have i got)(?: there)?(?: any)? .{1,100}? (?:already |still )?(?:on|in) ${LIST}`,
      `(?:do i have|have i got|is there) ${LIST}`,
      '(?:my|the) ((?:[^ ]+ ){1,2}list)|([^ ]+ list)',
    ],
    (groups) => show(listName(firstOf(groups))),
  ),
  on(
    "what(?:'?s| is) (?:(?:still |already )?(?:on (?:it|there)|left)|still to (?:get|do))",
    (_groups, world) => {
      const [name] = latestList(world)
      return name === undefined ? null : show(name)
    },
  ),
  on(
    '(?:(?:show|list|see|view|what|which)(?: me)?(?: all)?(?: of)?(?: my| the| our)* lists|do i have(?: any)? lists)(?: do i have| have i got| are there)?',
    () => showAll(),
  ),
  on(
    'what (?:(?:do|should) (?:i|we) (?:still )?(?:need to |have to )?(?:buy|get)|(?:do we|do i(?= .{0,6}need from)) (?:still )?need)(?: today| from the (?:shops?|store|supermarket))?',
    () => show('shopping list'),
  ),
]

/** Takes off, if no list is named. Must come last, because other requests begin with these words too. */
export const removeIntent: Intent = on(
  '(?:remove|delete|take off) ((?!my |all |every|that |this |it\\b)[^:]{1,200})',
  takeOffAny,
)

/** Adds to the list just named, or else to the shopping list. Must come last, because other requests begin with “add” too. */
export const addIntent: Intent = on(
  ['add (?!to\\b)((?:(?! (?:in)?to )[^:]){1,200})', 'buy ([^:]{1,200})'],
  ([item = '', bought = ''], { conversation: { past } }) =>
    act(add, [0, 1])([item || bought, item && (listIn(past[0]?.reply ?? '') ?? '')]),
)

const AMOUNT_OF_TIME = /^(?:an?|another|\d{1,3}) (?:second|minute|hour|day|week|month|year)s?$/i

/** "Add a scratch to the flat inventory": a note by its whole title. Must come last. */
export const addToNamedIntent: Intent = on(
  '(?:add|append) (.{1,300}) (?:to|on|onto|into) (?:(?:the|my|our) )?(.{2,60})',
  ([said = '', named = '']) => {
    const [text, name] = [tidy(said), tidy(named)]
    return itemsOf(text).length === 0 || AMOUNT_OF_TIME.test(text) ? null : addToNamed(text, name)
  },
)

function* addToNamed(text: string, name: string): Steps {
  const outcome = yield* use('update_note', { query: noteOf(name), append: `- ${text}` })
  if (outcome.reason === 'not_found')
    return `I found no list or note called “${name}”. “Add ${text} to my ${listName(name)}” starts a list.`
  if (!outcome.ok) return whyNot(outcome)
  return `${ADDED} ${linked(outcome.note?.id, outcome.note?.title ?? name)}: ${text}.`
}
