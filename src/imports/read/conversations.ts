import { hash } from 'node:crypto'
import * as z from 'zod'
import type { ImportService } from '../../../projections/imports.ts'
import { wholeCharacters } from '../../../projections/whole-characters.ts'

export type ReadMessage = {
  /** As the service names it. */
  readonly id: string
  readonly speaker: 'owner' | 'assistant'
  /** ISO 8601 in UTC. */
  readonly at: string
  readonly text: string
}

/** A conversation of an export, whichever service it comes from. Messages are in order. */
export type ReadConversation = {
  readonly service: ImportService
  readonly id: string
  readonly title: string
  readonly messages: readonly ReadMessage[]
}

const MAX_TITLE_CHARS = 200
/** As a note may have. */
const MAX_TEXT_CHARS = 1_000_000

const timeOrNull = z.union([z.string(), z.number()]).nullish().catch(null)
const textOrEmpty = z.string().catch('')
const idOrNull = z.string().nullish().catch(null)

/** A conversation of ChatGPT: a tree, because answers can be generated again and messages edited. */
const chatGptSchema = z.object({
  conversation_id: idOrNull,
  id: idOrNull,
  title: textOrEmpty,
  create_time: timeOrNull,
  current_node: idOrNull,
  mapping: z.record(
    z.string(),
    z
      .object({
        parent: idOrNull,
        message: z
          .object({
            id: idOrNull,
            author: z.object({ role: textOrEmpty }),
            recipient: z.string().catch('all'),
            create_time: timeOrNull,
            content: z.object({ parts: z.array(z.unknown()).catch([]) }),
            metadata: z
              .object({ is_visually_hidden_from_conversation: z.boolean().optional().catch(false) })
              .catch({}),
          })
          .nullish()
          .catch(null),
      })
      .catch({ parent: null, message: null }),
  ),
})

const claudeSchema = z.object({
  uuid: idOrNull,
  name: textOrEmpty,
  created_at: timeOrNull,
  chat_messages: z.array(
    z
      .object({
        uuid: idOrNull,
        sender: textOrEmpty,
        text: textOrEmpty,
        created_at: timeOrNull,
        content: z
          .array(z.object({ type: textOrEmpty, text: textOrEmpty }).catch({ type: '', text: '' }))
          .catch([]),
        attachments: z
          .array(z.object({ extracted_content: textOrEmpty }).catch({ extracted_content: '' }))
          .catch([]),
        files: z.array(z.unknown()).catch([]),
      })
      .nullable()
      .catch(null),
  ),
})

/**
 * Reads an entry of an export at a moment that no message can be later than. Null if it is no conversation of a known
 * service; without messages if it is empty.
 */
export function conversationOf(value: unknown, nowMs: number): ReadConversation | null {
  if (typeof value !== 'object' || value === null) return null
  if ('mapping' in value) {
    const read = chatGptSchema.safeParse(value)
    return read.success ? fromChatGpt(read.data, nowMs) : null
  }
  if ('chat_messages' in value) {
    const read = claudeSchema.safeParse(value)
    return read.success ? fromClaude(read.data, nowMs) : null
  }
  return null
}

function fromChatGpt(found: z.output<typeof chatGptSchema>, nowMs: number): ReadConversation {
  const { mapping } = found
  const nodes: (typeof mapping)[string][] = []
  // From the last message to the first. Edited messages and other answers are on other branches.
  const met = new Set<string>()
  for (let id = lastNode(found, nowMs); id && !met.has(id); id = mapping[id]?.parent) {
    met.add(id)
    const node = mapping[id]
    if (node) nodes.push(node)
  }
  return conversation('chatgpt', found.conversation_id ?? found.id, found.title, found.create_time, nowMs, [
    ...nodes.reverse().flatMap(({ message }) => {
      if (message?.recipient !== 'all') return []
      if (message.metadata.is_visually_hidden_from_conversation) return []
      const { role } = message.author
      const speaker = role === 'user' ? 'owner' : role === 'assistant' ? 'assistant' : null
      const texts = message.content.parts.map(textOfPart).filter((text) => text.trim() !== '')
      const text = texts.join('\n\n')
      return [{ id: message.id, speaker, at: message.create_time, text } as const]
    }),
  ])
}

/** The current one; in exports without it, the latest that no other follows. */
function lastNode(
  { current_node, mapping }: z.output<typeof chatGptSchema>,
  nowMs: number,
): string | null | undefined {
  if (current_node && mapping[current_node]) return current_node
  const parents = new Set(Object.values(mapping).map(({ parent }) => parent))
  const timeOf = ([, { message }]: [string, (typeof mapping)[string]]) =>
    instantOf(message?.create_time, nowMs) ?? ''
  const leaves = Object.entries(mapping).filter(([id]) => !parents.has(id))
  return leaves.toSorted((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1))[0]?.[0]
}

const ATTACHMENT = '[attachment]'

/** A text, the words of a recording, or a mark for what is not text. */
function textOfPart(part: unknown): string {
  if (typeof part === 'string') return withoutMarks(part)
  if (typeof part !== 'object' || part === null) return ''
  if ('text' in part && typeof part.text === 'string') return withoutMarks(part.text)
  const type = 'content_type' in part ? String(part.content_type) : ''
  return type.startsWith('image') ? '[image]' : ATTACHMENT
}

/** `entity["city","Lisbon",…]`: the name is a word of the sentence. */
const NAME = /\ue200entity\ue202\["[^"]*", ?"([^"\ue200]*)"[^\ue200\ue201]*\ue201/g
/** Citations, which lead nowhere here, and what surrounds the words that they are for. */
const MARK = / ?\ue200[^\ue200\ue201]*\ue201|[\ue203\ue204]/g

/** A text without the private characters that ChatGPT's page replaces, as `daugaard47/ChatGPT_Conversations_To_Markdown#8`. */
const withoutMarks = (text: string): string => text.replace(NAME, '$1').replace(MARK, '')

function fromClaude(found: z.output<typeof claudeSchema>, nowMs: number): ReadConversation {
  return conversation('claude', found.uuid, found.name, found.created_at, nowMs, [
    ...found.chat_messages.flatMap((message) => {
      if (!message) return []
      const { sender } = message
      const speaker = sender === 'human' ? 'owner' : sender === 'assistant' ? 'assistant' : null
      const blocks = message.content.filter(({ type, text }) => type === 'text' && text.trim() !== '')
      const said = blocks.map((block) => block.text).join('\n\n') || message.text
      const attached = message.attachments.map((each) => quotation(each.extracted_content))
      const text = [said, ...attached, ...message.files.map(() => ATTACHMENT)].filter(Boolean).join('\n\n')
      return [{ id: message.uuid, speaker, at: message.created_at, text } as const]
    }),
  ])
}

/**
 * What was attached, line by line as a quotation, or a mark if it has no text. Claude attaches long pasted texts, which
 * may be anybody's, and memory takes no quotation for the owner's words.
 */
function quotation(text: string): string {
  const lines = text.trim().split(/\r\n?|\n/)
  return text.trim() === '' ? ATTACHMENT : lines.map((line) => `> ${line}`).join('\n')
}

type Found = {
  readonly id: string | null | undefined
  /** Null for system messages and tools. */
  readonly speaker: ReadMessage['speaker'] | null
  readonly at: string | number | null | undefined
  readonly text: string
}

function conversation(
  service: ImportService,
  id: string | null | undefined,
  title: string,
  createdAt: Found['at'],
  nowMs: number,
  found: readonly Found[],
): ReadConversation {
  let lastAt = instantOf(createdAt, nowMs) ?? EPOCH
  const messages = found.flatMap(({ id: messageId, speaker, at, text }): ReadMessage[] => {
    lastAt = instantOf(at, nowMs) ?? lastAt
    if (speaker === null || text.trim() === '') return []
    const cut = wholeCharacters(text.slice(0, MAX_TEXT_CHARS)).toWellFormed()
    return [{ id: idOf(messageId, `${speaker} ${lastAt} ${cut}`), speaker, at: lastAt, text: cut }]
  })
  return {
    service,
    id: idOf(id, `${title} ${lastAt} ${messages[0]?.id ?? ''}`),
    title: wholeCharacters(title.trim().slice(0, MAX_TITLE_CHARS)).toWellFormed(),
    messages,
  }
}

const EPOCH = new Date(0).toISOString()

/** Seconds since 1970, or an ISO 8601 time. Null if it is neither, or before 1970 or in the future. */
function instantOf(time: Found['at'], nowMs: number): string | null {
  const ms = typeof time === 'number' ? time * 1000 : typeof time === 'string' ? Date.parse(time) : Number.NaN
  return ms >= 0 && ms <= nowMs ? new Date(ms).toISOString() : null
}

/** An id as the service gave it, if it is a plain word; else a digest of what it names, so that it is the same again. */
function idOf(given: string | null | undefined, content: string): string {
  return given && /^[\w-]{1,100}$/.test(given) ? given : hash('sha256', given || content).slice(0, 32)
}
