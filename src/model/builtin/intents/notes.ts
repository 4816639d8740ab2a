import { wholeCharacters } from '../../../../projections/whole-characters.ts'
import { shorten } from '../../../lib/shorten.ts'
import { firstOf, type Intent, on, type Reply, report, type Steps, use, type World } from '../intent.ts'
import { whyNot } from '../results.ts'
import { bullets, tidy, toContent } from '../text.ts'

export const ASK_NOTE = 'What should the note say?'
const WHICH_NOTE = 'Which note? Tell me its title.'
const MAX_TITLE_CHARS = 200
const MAX_NOTE_CHARS = 1000

/** Matches "the note called X" and "my X note"; one group is the title. */
const NOTE =
  '(?:the |my |our |that |this )?(?:note (?:called |titled |named |about |on |with (?:the )?title )?(.+?)|(.+?) note)'
export const NEW = '(?:make|take|create|write|add|start|save|new|draft|leave)'
const A_NOTE = `(?:${NEW} )?(?:me )?(?:an? |the )?(?:new |quick |short )*note`

function create(title: string, content: string): Reply {
  const text = toContent(content)
  const name = wholeCharacters(tidy(title).slice(0, MAX_TITLE_CHARS))
  if (text === '') return ASK_NOTE
  return report('create_note', { title: name || null, content: text }, ({ note }) =>
    note?.title ? `Noted: ${linked(note.id, note.title)}.` : 'Noted.',
  )
}

/** The title of a note as a link. */
export function linked(id: string | undefined, title: string): string {
  const words = shorten(title.replace(/[[\]\s]+/g, ' ').trim(), 80)
  return id && /^[\w-]+$/.test(id) ? `[${words}](/notes/${id})` : words
}

const listNotes = (words: string) =>
  report('list_notes', { query: words || null }, ({ notes, more }) => {
    if (notes.length === 0)
      return words === '' ? 'You have no notes yet.' : `You have no notes about “${words}”.`
    const lines = notes.map(({ id, title = 'Untitled', excerpt = '' }) => {
      const start = excerpt.replaceAll('\n- ', ', ').replace(/\s+/g, ' ').replace(/^- /, '')
      const name = linked(id, title)
      return start === '' || start.startsWith(title) ? name : `${name}: ${start}`
    })
    return bullets(lines, more ? 'more under [Notes](/notes)' : undefined)
  })

/** The note with this title, else the notes with these words. */
function* readNote(query: string): Steps {
  const outcome = yield* use('read_note', { query })
  if (outcome.reason === 'not_found') return yield* listNotes(query.replace(/^(?:the|a|an|my) /i, ''))
  if (!outcome.ok) return whyNot(outcome)
  const { id, title = '', content = '' } = outcome.note ?? {}
  const text = excerptOf(content) || 'The note is empty.'
  if (isFirstLine(title, content)) return text.replace(title, () => linked(id, title))
  return `**${linked(id, title)}**\n\n${text}`
}

/** A note without a title is called by its first line. */
export const isFirstLine = (title: string, content: string) => content.startsWith(title.replace(/…$/, ''))

export function excerptOf(content: string): string {
  const rest = content.length > MAX_NOTE_CHARS ? '\n\nThe rest is under [Notes](/notes).' : ''
  return `${shorten(content, MAX_NOTE_CHARS)}${rest}`
}

const append = (query: string, text: string) =>
  report(
    'update_note',
    { query, append: text },
    ({ note }) => `Added to ${linked(note?.id, note?.title ?? query)}.`,
  )

const removeNote = (query: string) =>
  report('delete_note', { query }, ({ note }) => `Deleted: “${note?.title ?? query}”. ${RESTORE}`)

export const RESTORE = 'You can restore it under [Notes](/notes).'

const named = (groups: readonly string[], steps: (name: string) => Reply): Reply => {
  const name = firstOf(groups)
  return /^(?:the|a|an|my|our|that|this|it|)$/i.test(name) ? WHICH_NOTE : steps(name)
}

/** The id of the one note that a reply just linked to: "it". */
export function justNamed({ conversation: { past } }: World): string | undefined {
  const [id, ...others] = (past[0]?.reply ?? '').matchAll(/\]\(\/notes\/([\w-]+)\)/g)
  return others.length === 0 ? id?.[1] : undefined
}

/** "The recipe for scones: 225 g flour, …" has a title. */
const TITLED = /^([^:.\n]{3,60}): (.{60,})$/s

const CALLED = '(?:called|titled|named|entitled|with (?:the |a )?(?:title|name))'
const ABOUT = '(?:about|on|that mention|mentioning|with|containing|for|regarding)'
const SHOW =
  '(?:read|open|show|display|give|tell|view|see|check|find|look up|look for|search for|bring up)(?: me)?'
const IN = '(?:to|on|onto|in|into)'

export const noteIntents: readonly Intent[] = [
  on(
    [
      `(?:${SHOW}|what|which|list)(?: all| of| my| the| your)* notes(?: (?:do i have|have i got|are there|i have))?(?: ${ABOUT} (.+))?`,
      `(?:do i have|have i got|are there)(?: any| some)? notes?(?: ${ABOUT} (.+))?`,
      `(?:search|look|find|check)(?: in| through| for)?(?: my| the| all)* notes ${ABOUT} (.+)`,
      '(?:how many notes (?:do i have|are there)|(?:all )?(?:my )?notes)',
    ],
    ([words = '']) => listNotes(tidy(words)),
  ),
  on(`(?:add|append|put|write|include) (.{1,1500}) ${IN} ${NOTE}`, ([text = '', ...names]) =>
    named(names, (query) => append(query, toContent(text))),
  ),
  on(`(?:add|append|write) ${IN} ${NOTE}: (.+)`, ([first = '', second = '', text = '']) =>
    named([first, second], (query) => append(query, toContent(text))),
  ),
  on(
    `(?:rename|retitle|change|update|replace|rewrite|edit|(?:delete|remove|erase|take|cross|strike) .{1,300} (?:from|off|out of)) ${NOTE}(?:[: ].*)?`,
    () => 'I can only add to a note. You can change it under [Notes](/notes).',
  ),
  on(
    '(?:delete|remove|erase|trash) (?:all|every)(?: of)?(?: my| the)? notes?',
    () => 'I delete notes one at a time: “Delete the note Trip”.',
  ),
  on(`(?:delete|remove|erase|trash|discard|get rid of|throw away) ${NOTE}`, (groups) =>
    named(groups, removeNote),
  ),
  on(
    [
      '(?:add|append|put|write|include) (?:to|in) (?:it|that|there)[:,] (.+)',
      '(?:add|append|put|write|include) (.{1,1500}) (?:to|in) (?:it|that|there)(?: too| as well)?',
    ],
    (groups, world) => {
      const id = justNamed(world)
      return id === undefined ? null : append(id, toContent(firstOf(groups)))
    },
  ),
  on(
    `(?:delete|remove|erase|(${SHOW})(?: out)?) (?:it|(?:the |my |that |this )?(note))(?: (?:to me|aloud|out loud|out))?`,
    ([show = '', note = ''], world) => {
      const id = justNamed(world)
      if (id === undefined) return note === '' ? null : WHICH_NOTE
      return show === '' ? removeNote(id) : readNote(id)
    },
  ),
  on('(?:change|rename) (?:the |my |that |this )?note', () => WHICH_NOTE),
  on(
    `${A_NOTE} ${CALLED}[:,]? (?:"([^"]{1,200})"|([^:"]{1,200}?))(?: ?[:,]| (?:saying|that says|which says|with (?:the )?(?:content|text)|containing|with)[:,]?) (.+)`,
    ([quoted = '', bare = '', content = '']) => create(quoted || bare, content),
    'content',
  ),
  on(`${A_NOTE} ${CALLED} (.{1,200})`, () => ASK_NOTE),
  on(
    [
      `${NEW} (?:me )?(?:an? )?(?:new |quick |short )*note(?: for me| for myself)?(?:[:,-] ?| (?:that says|which says|saying|that|to|about|of|on|with)[:]? | |$)(.*)`,
      '(?:quick )?note(?: to self| to myself)? ?[:–-] ?(.+)',
      'note (?:(?:down|to self|to myself)[:,]? (?:that )?)?(?!that\\b)(.+)',
      '(?:jot|write|put|note|take) (?:this |that |it |the following )?down ?[:,]? (?:that )?(.+)',
    ],
    ([content = '']) => {
      const [, title = '', rest = content] = TITLED.exec(content) ?? []
      return create(title, rest)
    },
    'content',
  ),
  on(
    [
      `${SHOW}(?: out)? (?!notes\\b)${NOTE}(?: (?:to me|aloud|out loud|out))?`,
      `what(?:'s| is| does)(?: in| on)? ${NOTE}(?: says?| contains?)?`,
    ],
    (groups) => named(groups, readNote),
  ),
]

/** "Read Garden plan", but not "I want to read more". Must come last. */
export const namedNoteIntent: Intent = on(
  '(?:read|open)(?: me)?(?: out)? (.{2,80}?)(?: (?:to me|aloud|out loud|out|again))?',
  ([name = ''], { conversation }) => (/^i\b/i.test(conversation.text) ? null : readNote(tidy(name))),
)
