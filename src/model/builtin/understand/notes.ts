import { call, type Plan, say } from '../plan.ts'
import { capitalise, tidy, toContent } from '../text.ts'
import { firstOf, type Rule, rule } from './rules.ts'

const ASK_CONTENT = say(
  'What should the note say? For example: “note: call the plumber”, or “create a note called Trip: pack bags”.',
)
const WHICH_NOTE = say('Which note? Tell me what it is called, or words of it.')
const MAX_TITLE_CHARS = 200

/** A note by what it is called: "the note called X", "my X note", "my shopping list". One of the groups is its name. */
const NOTE =
  '(?:the |my |our |that |this )?(?:note\\s+(?:called |titled |named |about |on |with (?:the )?title )?(.+?)|(.+?)\\s+note|((?:[^\\s]+ ){0,5}?list))'
const named = (...names: readonly string[]) => {
  const name = tidy(names.find((each) => each !== '') ?? '')
  return /^(?:the|a|an|my|our|that|this|it)$/i.test(name) ? '' : name
}

function create(title: string, content: string): Plan {
  const name = tidy(title).slice(0, MAX_TITLE_CHARS).toWellFormed()
  const text = toContent(content)
  if (text === '' && name === '') return ASK_CONTENT
  if (text === '')
    return say(`What should the note “${name}” say? Tell me so: “create a note called ${name}: …”.`)
  return call('create_note', { title: name === '' ? null : name, content: text })
}

/** "milk, eggs and bread" as lines of a list. */
function toItems(text: string): string {
  const items = text.split(/\s*(?:,|;|\n)\s*(?:and\s+)?|\s+and\s+(?=[^,;\n]*$)/i).map(tidy)
  return items
    .filter((item) => item !== '')
    .map((item) => `- ${item}`)
    .join('\n')
}

const NEW = '(?:make|take|create|write|add|start|save|new|draft|leave)'
const creating: readonly Rule[] = [
  rule(
    new RegExp(
      `^(?:${NEW}\\s+)?(?:me\\s+)?(?:a\\s+|an\\s+|the\\s+)?(?:new\\s+|quick\\s+|short\\s+)*note\\s+(?:called|titled|named|entitled|with (?:the |a )?(?:title|name|heading)(?: of)?)\\s*[:,]?\\s+(?:"([^"\\n]{1,200})"|([^:"\\n]{1,200}?))(?:\\s*[:,]\\s*(?:with (?:the )?(?:content|text)\\s*:?\\s*)?|\\s+(?:saying|that says|which says|with (?:the )?(?:content|text)|containing|and (?:the )?(?:content|text)|with)\\s*[:,]?\\s+|\\s*\\n)(.+)$`,
      'is',
    ),
    ([quoted = '', bare = '', content = '']) => create(named(quoted, bare), content),
  ),
  rule(
    new RegExp(
      `^${NEW}\\s+(?:me\\s+)?(?:a\\s+|an\\s+)?(?:new\\s+|quick\\s+|short\\s+)*note\\s+(?:called|titled|named|entitled)\\s+(.{1,200})$`,
      'is',
    ),
    ([title = '']) => create(title, ''),
  ),
  rule(
    new RegExp(
      `^${NEW}\\s+(?:me\\s+)?(?:a\\s+|an\\s+)?(?:new\\s+|quick\\s+|short\\s+)*note\\b\\s*(?:for me\\s*|for myself\\s*)?(?:[:,-]\\s*|(?:that says|which says|saying|that|to|about|of|on|with)\\s*:?\\s+)?(.*)$`,
      'is',
    ),
    ([content = '']) => create('', content),
  ),
  rule(/^(?:quick )?note(?: to self| to myself)?\s*[:\-–]\s*(.+)$/is, ([content = '']) =>
    create('', content),
  ),
  rule(/^note\s+(?!that\b)(?:down|to self|to myself)\s*[:,]?\s*(?:that )?(.+)$/is, ([content = '']) =>
    create('', content),
  ),
  rule(
    /^(?:jot|write|put|note|take)\s+(?:this |that |it |the following )?down\s*[:,]?\s*(?:that )?(.+)$/is,
    ([content = '']) => create('', content),
  ),
  rule(
    new RegExp(
      `^${NEW}\\s+(?:me\\s+)?(?:a|an|my|the)\\s+(?:new\\s+)?((?:[^\\s:,]+ ){0,5})list(?:\\s+(?:called|titled|named)\\s+([^:\\n]{1,100}?))?\\s*(?:[:,]|with|of)\\s*(.+)$`,
      'is',
    ),
    ([kind = '', title = '', items = '']) =>
      create(title || capitalise(`${kind.trim()} list`.trim()), toItems(items)),
  ),
]

const find = (words: string) => call('list_notes', { query: tidy(words) === '' ? null : tidy(words) })
const listing: readonly Rule[] = [
  rule(
    /^(?:(?:show|list|display|give|see|view|tell)(?: me)?|what(?: are|'re)?|which)\s+(?:all\s+)?(?:of\s+)?(?:my\s+|the\s+|your\s+|all\s+)*notes\b(?:\s+(?:do i have|have i got|are there|i have|exist))?(?:\s+(?:about|on|that mention|mentioning|with|containing|for|regarding)\s+(.+?))?[?.! ]*$/is,
    ([words = '']) => find(words),
  ),
  rule(
    /^(?:do i have|have i got|are there)\s+(?:any |some )?notes?(?:\s+(?:about|on|that mention|mentioning|with|containing|for|regarding)\s+(.+?))?[?.! ]*$/is,
    ([words = '']) => find(words),
  ),
  rule(
    /^(?:do i have|have i got|is there)\s+(?:an?\s+|any\s+)?((?:[^\s]+ ){0,5}list)[?.! ]*$/is,
    ([words = '']) => find(words),
  ),
  rule(/^(?:how many notes (?:do i have|are there)|(?:all )?(?:my )?notes)[?.! ]*$/i, () => find('')),
  rule(
    /^(?:search|look|find|check)\s+(?:in |through |for )?(?:my |the |all )*notes\s+(?:for|about|on|that mention|mentioning|with|containing)\s+(.+?)[?.! ]*$/is,
    ([words = '']) => find(words),
  ),
]

const read = (...names: readonly string[]) =>
  named(...names) === '' ? WHICH_NOTE : call('read_note', { query: named(...names) })
const reading: readonly Rule[] = [
  rule(
    new RegExp(
      `^(?:read|open|show|display|give|view|see|find|look up|look for|search for|pull up|bring up)(?: me)?(?: out)?\\s+(?!notes\\b)${NOTE}(?:\\s+(?:to me|aloud|out loud|out))?[?.! ]*$`,
      'is',
    ),
    (names) => read(...names),
  ),
  rule(
    new RegExp(
      `^what(?:'s| is| does| do)\\s+(?:in |on |inside )?${NOTE}(?:\\s+(?:say|contain|read))?[?.! ]*$`,
      'is',
    ),
    (names) => read(...names),
  ),
]

function update(name: string, change: { title?: string; content?: string; append?: string }): Plan | null {
  if (name === '') return WHICH_NOTE
  return call('update_note', { query: name, title: null, content: null, append: null, ...change })
}

const updating: readonly Rule[] = [
  rule(
    new RegExp(
      `^(?:add|append|put|write|include)\\s+([^\\n]{1,1500}?)\\s+(?:to|on|onto|in|into)\\s+${NOTE}[.! ]*$`,
      'is',
    ),
    ([text = '', ...names]) => {
      const isList = names[2] !== ''
      return update(named(...names), { append: isList ? toItems(text) : toContent(text) })
    },
  ),
  rule(new RegExp(`^(?:add|append)\\s+to\\s+${NOTE}\\s*[:,]\\s*(.+)$`, 'is'), (groups) => {
    const [text = ''] = groups.slice(-1)
    const names = groups.slice(0, -1)
    return update(named(...names), { append: names[2] ? toItems(text) : toContent(text) })
  }),
  rule(
    new RegExp(
      `^(?:rename|retitle|change the (?:title|name) of)\\s+${NOTE}\\s+(?:to|as|into)\\s+(.{1,200})$`,
      'is',
    ),
    (groups) => update(named(...groups.slice(0, -1)), { title: tidy(groups.at(-1) ?? '') }),
  ),
  rule(
    new RegExp(
      `^(?:change|update|replace|rewrite|overwrite|set|edit)\\s+(?:the (?:content|text) of\\s+)?${NOTE}\\s+(?:to|with|so that it (?:says|reads)|to (?:say|read))\\s*[:,]?\\s+(?:(?:say|read)\\s*[:,]?\\s+)?(.+)$`,
      'is',
    ),
    (groups) => update(named(...groups.slice(0, -1)), { content: toContent(groups.at(-1) ?? '') }),
  ),
  rule(
    new RegExp(`^(?:change|update|replace|rewrite|overwrite|edit)\\s+${NOTE}\\s*:\\s*(.+)$`, 'is'),
    (groups) => update(named(...groups.slice(0, -1)), { content: toContent(groups.at(-1) ?? '') }),
  ),
]

const deleting: readonly Rule[] = [
  // Or the whole list would go.
  rule(
    new RegExp(
      `^(?:delete|remove|erase|take|cross|strike|scratch|tick|drop)\\s+([^\\n]{1,300}?)\\s+(?:from|off|out of)\\s+${NOTE}[.! ]*$`,
      'is',
    ),
    () =>
      say(
        'I cannot take single lines out of a note. Change it under Notes, or tell me all that it should say: “change the note Trip to …”.',
      ),
  ),
  rule(/^(?:delete|remove|erase|trash)\s+(?:all|every)(?: of)?(?: my| the)? notes?[.! ]*$/i, () =>
    say('I delete notes one at a time: tell me which one, for example “delete the note called Trip”.'),
  ),
  rule(
    new RegExp(`^(?:delete|remove|erase|trash|discard|get rid of|throw away)\\s+${NOTE}[.! ]*$`, 'is'),
    (names) => (named(...names) === '' ? WHICH_NOTE : call('delete_note', { query: named(...names) })),
  ),
]

/** "Read Garden plan": a note by its name alone. After all others. */
export const namedNoteRule: Rule = firstOf([
  rule(
    /^(?:read|open)(?: me)?(?: out)?\s+([^\n]{2,80}?)(?:\s+(?:to me|aloud|out loud|out|again))?[?.! ]*$/is,
    ([name = '']) => read(name),
  ),
  rule(/^(?:[Ss]how|[Dd]isplay)(?: me)?\s+(\p{Lu}[^\n]{1,80}?)[?.! ]*$/su, ([name = '']) => read(name)),
])

export const noteRule: Rule = firstOf([...listing, ...updating, ...deleting, ...creating, ...reading])
