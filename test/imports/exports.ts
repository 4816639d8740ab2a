import { createWriteStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { expect } from 'vitest'
import { ZipFile } from 'yazl'
import { testDirectory } from '../support/directory.ts'
import type { WholeService } from '../support/service.ts'

/** What was said, in turns: the owner begins. */
export type Talk = {
  readonly id: string
  readonly title?: string
  /** ISO 8601; a minute lies between two messages. */
  readonly at?: string
  readonly texts: readonly string[]
}

export const FERN = {
  id: 'fern',
  title: 'Ferns indoors',
  texts: ['How often do I water a fern?', 'Twice a week.', 'Mine stands in Lisbon.', 'Then more often.'],
}
export const BREAD = {
  id: 'bread',
  title: 'Sourdough',
  at: '2025-01-05T08:00:00.000Z',
  texts: ['Why is my bread dense?', 'It needs more time.'],
}

const START = '2024-03-01T10:00:00.000Z'
const secondsAt = ({ at = START }: Talk, index: number) => Date.parse(at) / 1000 + index * 60

/** A conversation as ChatGPT exports it: a tree with a hidden system message, a tool, and a branch that was left. */
export function chatGptConversation(talk: Talk) {
  const { id, title = 'Untitled', texts } = talk
  const node = (nodeId: string, parent: string | null, message: object | null) => [
    nodeId,
    { id: nodeId, parent, children: [], message },
  ]
  const message = (messageId: string, role: string, parts: readonly unknown[], seconds: number | null) => ({
    id: messageId,
    author: { role, name: null, metadata: {} },
    create_time: seconds,
    update_time: null,
    content: { content_type: 'text', parts },
    status: 'finished_successfully',
    end_turn: true,
    weight: 1,
    metadata: { model_slug: 'gpt-4o', finish_details: { type: 'stop', stop_tokens: [200002] } },
    recipient: 'all',
  })
  const idOf = (index: number) => `${id}-m${index}`
  const said = texts.map((text, index) =>
    node(
      idOf(index),
      index === 0 ? `${id}-system` : idOf(index - 1),
      message(idOf(index), index % 2 === 0 ? 'user' : 'assistant', [text], secondsAt(talk, index)),
    ),
  )
  const last = idOf(texts.length - 1)
  return {
    title,
    create_time: secondsAt(talk, 0),
    update_time: secondsAt(talk, texts.length),
    mapping: Object.fromEntries([
      node(`${id}-root`, null, null),
      node(`${id}-system`, `${id}-root`, {
        ...message(`${id}-system`, 'system', [''], null),
        metadata: { is_visually_hidden_from_conversation: true },
      }),
      ...said,
      node(`${id}-left`, `${id}-system`, message(`${id}-left`, 'user', ['A draft that was edited.'], 1)),
      node(`${id}-tool`, last, {
        ...message(`${id}-tool`, 'assistant', ['search("weather")'], secondsAt(talk, 99)),
        recipient: 'browser',
      }),
      node(`${id}-end`, `${id}-tool`, message(`${id}-end`, 'tool', ['{"result": 1}'], null)),
    ]),
    moderation_results: [],
    current_node: `${id}-end`,
    conversation_id: id,
    id,
    is_archived: false,
  }
}

/** A conversation as Claude exports it. */
export function claudeConversation(talk: Talk) {
  const { id, title = 'Untitled', texts } = talk
  const at = (index: number) => new Date(secondsAt(talk, index) * 1000).toISOString()
  return {
    uuid: id,
    name: title,
    summary: '',
    created_at: at(0),
    updated_at: at(texts.length),
    account: { uuid: 'account' },
    chat_messages: texts.map((text, index) => ({
      uuid: `${id}-m${index}`,
      text: index % 2 === 0 ? text : '',
      content: [
        { type: 'thinking', thinking: 'Hidden thoughts.' },
        { start_timestamp: at(index), type: 'text', text, citations: [] },
      ],
      sender: index % 2 === 0 ? 'human' : 'assistant',
      created_at: at(index),
      updated_at: at(index),
      attachments: [],
      files: [],
    })),
  }
}

/** Writes a zip with these entries, each from pieces of its text. Resolves to its path. */
export async function writeZip(
  name: string,
  entries: Readonly<Record<string, () => Iterable<string>>>,
): Promise<string> {
  const path = join(testDirectory(), name)
  const zip = new ZipFile()
  for (const [entry, pieces] of Object.entries(entries))
    zip.addReadStreamLazy(entry, (opened) => opened(null, Readable.from(pieces())))
  zip.end()
  await pipeline(zip.outputStream, createWriteStream(path))
  return path
}

/** A list of values as JSON, one value at a time. */
export function* jsonList(values: Iterable<unknown>): Generator<string> {
  let separator = '['
  for (const value of values) {
    yield `${separator}${JSON.stringify(value)}`
    separator = ',\n'
  }
  yield separator === '[' ? '[]' : ']'
}

/** An export of ChatGPT with these conversations. */
export const chatGptZip = (talks: readonly Talk[] = [FERN, BREAD]) =>
  writeZip('chatgpt.zip', {
    'user.json': () => ['{"id":"user"}'],
    'conversations.json': () => jsonList(talks.map(chatGptConversation)),
  })

const PIECE_BYTES = 1024 * 1024

/** Uploads a file in pieces, as the page does. Resolves to the id of the import. */
export async function upload({ client, origin }: WholeService, path: string): Promise<string> {
  const { size } = await stat(path)
  const begun = await client.post('/api/imports', { name: basename(path), bytes: size })
  expect([begun.status, begun.text]).toEqual([201, expect.any(String)])
  const { id } = begun.json.import
  await using file = await open(path)
  for (let offset = 0; offset < size; offset += PIECE_BYTES) {
    const piece = Buffer.alloc(Math.min(PIECE_BYTES, size - offset))
    await file.read(piece, 0, piece.length, offset)
    const answer = await fetch(`${origin}/api/imports/${id}/file?offset=${offset}`, {
      method: 'PUT',
      headers: { cookie: client.cookie() ?? '', 'content-type': 'application/octet-stream', origin },
      body: piece,
    })
    expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
  }
  return id
}

export const importsOf = async ({ client }: WholeService) => (await client.get('/api/imports')).json.imports

/** Resolves to an import once it is over. */
export async function over(service: WholeService, id: string, timeout = 60_000) {
  const find = async () => (await importsOf(service)).find((each: { id: string }) => each.id === id)
  await expect.poll(async () => (await find())?.state, { timeout }).not.toBeOneOf(['running', undefined])
  return find()
}

export const conversationsOf = async ({ client }: WholeService, query = '') =>
  (await client.get(`/api/imported${query}`)).json.conversations

export const messagesOf = async ({ client }: WholeService, id: string) =>
  (await client.get(`/api/imported/${id}`)).json
