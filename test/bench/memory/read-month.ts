import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Fact,
  type FactKind,
  factKinds,
  type Message,
  type Month,
  type Probe,
  type Statement,
  type TrapKind,
  trapKinds,
} from './month.ts'

const DATA = join(import.meta.dirname, 'data')
const PROBES = '-probes.txt'
const KEYWORDS = '-keywords.txt'
const STOCK_REPLIES = ['Okay.', 'You are welcome.', 'All right.']

type Draft = {
  -readonly [Key in keyof Message]: Message[Key] extends readonly (infer T)[] ? T[] : Message[Key]
}

export const personas: readonly string[] = readdirSync(DATA)
  .filter((name) => name.endsWith(PROBES))
  .map((name) => name.slice(0, -PROBES.length))
  .sort()

/**
 * Reads the month of a persona from its files, in the format that `docs/benchmarks/memory.md` describes. Throws
 * an error that names the line if a label is wrong.
 */
export function readMonth(persona: string): Month {
  const facts = new Map<string, Fact>()
  const drafts: Draft[] = []
  const probes: Probe[] = []
  const keywords = new Map<string, readonly string[]>()
  const files = readdirSync(DATA).filter((name) => name.startsWith(`${persona}-`))
  for (const file of files) {
    let day = 0
    for (const [index, line] of readFileSync(join(DATA, file), 'utf8').split('\n').entries()) {
      if (line === '') continue
      try {
        if (file.endsWith(PROBES)) probes.push(readProbe(line))
        else if (file.endsWith(KEYWORDS)) keywords.set(...readKeywords(line))
        else if (line.startsWith('# ')) day = Number(line.slice(2))
        else readLine(line, day, drafts, facts)
      } catch (error) {
        throw new Error(`${file}:${index + 1}: ${line}`, { cause: error })
      }
    }
  }
  // The sort is stable: it keeps the order within a day.
  const messages = drafts.sort((a, b) => a.day - b.day)
  check(messages, facts)
  return { persona, messages, facts, probes, keywords }
}

function readLine(line: string, day: number, drafts: Draft[], facts: Map<string, Fact>): void {
  const said = /^(sms|call|guest)?> (.+)$/.exec(line)
  if (said) {
    drafts.push(draftOf(day, said[1], unescaped(said[2] ?? ''), drafts.length))
    return
  }
  const message = drafts.at(-1)
  if (!message) throw new Error('a label without a message')
  const fields = fieldsOf(line.slice(2))
  const [first = '', second = '', third = '', fourth = '', fifth = ''] = fields
  const quoted = (quote: string) => (quote === '' ? message.text : unescaped(quote))
  switch (line[0]) {
    case '<':
      if (line.length > 2) message.reply = unescaped(line.slice(2))
      break
    case '+': {
      const { fact, statement } = readFact(fields, message.text)
      if (facts.has(fact.id)) throw new Error(`a second fact ${fact.id}`)
      facts.set(fact.id, fact)
      message.statements.push(statement)
      break
    }
    case '=':
      message.statements.push({ factId: first, isNew: false, quote: second, text: third })
      break
    case '!':
      message.traps.push({
        kind: trapKind(first),
        value: second,
        text: third,
        guards: fourth === '' ? [] : fourth.split(', '),
        quote: quoted(fifth),
      })
      break
    case '*':
      message.secrets.push({ words: first, text: second })
      break
    case '/':
      message.retracts.push(first)
      break
    case '~':
      message.forgets.push({ query: first, factId: second === 'words' ? null : second, words: third })
      break
    default:
      throw new Error('no such label')
  }
}

function draftOf(day: number, way: string | undefined, text: string, index: number): Draft {
  return {
    day,
    at: way === 'sms' ? 'sms' : way === undefined ? 'chat' : 'voice',
    party: way === 'guest' ? 'guest' : 'owner',
    text,
    reply: STOCK_REPLIES[index % STOCK_REPLIES.length] ?? '',
    statements: [],
    traps: [],
    secrets: [],
    retracts: [],
    forgets: [],
  }
}

function readFact(
  fields: readonly string[],
  said: string,
): { readonly fact: Fact; readonly statement: Statement } {
  const last = fields.at(-1) ?? ''
  const marks = last.startsWith('@') ? last.split(' ') : []
  const [id = '', kind = '', place = '', value = '', quote = said, text = quote] =
    marks.length > 0 ? fields.slice(0, -1) : fields
  const [subject = '', slot = ''] = place.split('/')
  const mark = (name: string) => marks.find((each) => each.startsWith(`@${name}=`))?.slice(name.length + 2)
  if (value === '' || slot === '') throw new Error('a fact without value or slot')
  return {
    fact: {
      id,
      kind: factKind(kind),
      subject: subject === '' ? 'owner' : subject,
      slot,
      value,
      isSingleValued: marks.includes('@one'),
      eventTime: mark('at') ?? null,
      validUntil: mark('until') ?? null,
      ends: mark('ends') ?? null,
      refines: mark('refine') ?? null,
      isOptional: marks.includes('@optional'),
    },
    statement: { factId: id, isNew: true, quote, text },
  }
}

function readProbe(line: string): Probe {
  const [, mark = '', rest = ''] = /^(-\?|\?\?|\?) (.+)$/.exec(line) ?? []
  const [question = '', answers = ''] = fieldsOf(rest)
  const kind = mark === '-?' ? 'nothing' : mark === '??' ? 'several' : 'one'
  if (question === '' || (kind !== 'nothing' && answers === '')) throw new Error('a probe without an answer')
  return { question, kind, answers: answers === '' ? [] : answers.split(' & ') }
}

function readKeywords(line: string): [statement: string, keywords: readonly string[]] {
  const [statement = '', words = ''] = fieldsOf(line)
  return [statement, words.split(' ')]
}

const fieldsOf = (line: string) => line.split('|').map((field) => field.trim())
const unescaped = (text: string) => text.replaceAll('\\n', '\n')

function trapKind(name: string): TrapKind {
  const kind = trapKinds.find((each) => each === name)
  if (!kind) throw new Error(`no trap ${name}`)
  return kind
}

function factKind(name: string): FactKind {
  const kind = factKinds.find((each) => each === name)
  if (!kind) throw new Error(`no kind ${name}`)
  return kind
}

/** Checks that labels refer to facts, and that the doubles can tell labelled messages apart by their text. */
function check(messages: readonly Message[], facts: ReadonlyMap<string, Fact>): void {
  const labelled = new Set<string>()
  messages.forEach((message, index) => {
    const { text, statements, traps, secrets, retracts, forgets } = message
    const previous = messages[index - 1]?.reply ?? ''
    const ids = [...retracts, ...statements.map(({ factId }) => factId)]
    const ended = statements.flatMap(({ factId }) => [facts.get(factId)?.ends, facts.get(factId)?.refines])
    for (const id of [...ids, ...ended, ...forgets.map(({ factId }) => factId)])
      if (id != null && !facts.has(id)) throw new Error(`no fact ${id}: ${text}`)
    for (const { quote } of statements)
      if (!text.includes(quote) && !previous.includes(quote)) throw new Error(`not in ${text}: ${quote}`)
    if (statements.length + traps.length + secrets.length === 0) return
    if (labelled.has(text)) throw new Error(`said twice: ${text}`)
    labelled.add(text)
  })
}
