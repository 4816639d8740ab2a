import { createHash } from 'node:crypto'
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions'
import * as z from 'zod'
import { parseJson } from '../../lib/parse-json.ts'
import { splitRoleTokens, withDataBlockRule } from '../openai/data-block.ts'
import { type InputOf, type InputOptions, type TimedItem, withTimes } from '../openai/input.ts'
import { isSameModel, type ModelId, type TextRequest } from '../port.ts'
import { isJson } from './answer.ts'

/**
 * Converts a context to messages. The templates of local models accept one system message, at the beginning,
 * and then users and assistants in turn, so times become data of the user's message and neighbours are joined.
 * Unpaired calls and results are dropped, and so are opaque items of any other model.
 */
export function toMessages(
  request: InputOf & Pick<TextRequest, 'instructions'>,
  self: ModelId,
  options: InputOptions,
): ChatCompletionMessageParam[] {
  const clean = cleanerOf(options)
  const transcript = createTranscript(resultsOf(request, clean))
  for (const item of withTimes(request)) add(transcript, item, self, { ...options, clean })
  const messages = transcript.messages()
  const system = { role: 'system', content: toSystem(request.instructions, options) } as const
  const isAnswerFirst = messages[0]?.role === 'assistant'
  const start = { role: 'user', content: options.dataBlock('time', 'The conversation begins.') } as const
  return [system, ...(isAnswerFirst ? [start] : []), ...messages]
}

type Clean = (text: string) => string

const cleanerOf = ({ splitsRoleTokens }: Pick<InputOptions, 'splitsRoleTokens'>): Clean =>
  splitsRoleTokens ? splitRoleTokens : (text) => text

/** The instructions as they are sent. */
export function toSystem(instructions: string, options: Pick<InputOptions, 'splitsRoleTokens'>): string {
  return cleanerOf(options)(withDataBlockRule(instructions))
}

function add(
  { user, assistant, endRound }: Transcript,
  item: TimedItem,
  self: ModelId,
  { dataBlock, clean }: InputOptions & { readonly clean: Clean },
): void {
  if (item.type === 'time') user(dataBlock('time', item.text))
  else if (item.type === 'inner') user(dataBlock(item.label, clean(item.text)))
  else if (item.type === 'message') {
    const text = clean(item.text)
    if (text === '') return
    if (item.role === 'delegate') assistant({ content: text })
    else user(item.role === 'owner' ? text : dataBlock('guest, not the owner', text))
  } else if (item.type === 'tool_call') {
    const { callId: id, name, arguments: args } = item
    assistant({ tool_calls: [{ id, type: 'function', function: { name, arguments: clean(args) } }] })
  } else if (item.type === 'tool_result') endRound()
  // Empty if the blob is damaged or was made by the Responses API.
  else if (isSameModel(self, item.model))
    assistant(blobSchema.safeParse(parseJson(clean(item.blob))).data ?? {})
}

const NO_WORDS = '…'

type Answer = Omit<ChatCompletionAssistantMessageParam, 'role' | 'tool_calls' | 'content'> & {
  readonly content?: string | null
  readonly tool_calls?: readonly ChatCompletionMessageFunctionToolCall[]
}
type Transcript = ReturnType<typeof createTranscript>

/** Builds the messages. A result follows the message with its call. */
function createTranscript(results: ReadonlyMap<string, string>) {
  const messages: ChatCompletionMessageParam[] = []
  const called = new Set<string>()
  let words: { role: 'user' | 'assistant'; content: string } | null = null
  let round: (Answer & { tool_calls: ChatCompletionMessageFunctionToolCall[] }) | null = null

  function say(role: 'user' | 'assistant', content: string): void {
    endRound()
    // Mistral lets no user follow a result, as after a turn that ended without words.
    if (role === 'user' && messages.at(-1)?.role === 'tool') say('assistant', NO_WORDS)
    if (words?.role === role) words.content += `\n\n${content}`
    else {
      words = { role, content }
      messages.push(words)
    }
  }

  function endRound(): void {
    if (round === null) return
    const { tool_calls: calls, ...rest } = round
    round = null
    // Words before the calls belong to the same message.
    if (words?.role === 'assistant') messages.pop()
    const content = [words?.role === 'assistant' ? words.content : null, rest.content].filter(Boolean)
    words = null
    messages.push({
      ...rest,
      role: 'assistant',
      content: content.join('\n\n') || null,
      tool_calls: calls.map(toWireCall),
    })
    for (const { id } of calls)
      messages.push({ role: 'tool', tool_call_id: toWireId(id), content: results.get(id) ?? '' })
  }

  return {
    user: (content: string) => say('user', content),
    assistant({ tool_calls = [], ...rest }: Answer): void {
      if (Object.keys(rest).length > 0) endRound()
      const calls = tool_calls.filter(({ id }) => results.has(id) && !called.has(id))
      for (const { id } of calls) called.add(id)
      if (calls.length > 0)
        round = { ...round, ...rest, tool_calls: [...(round?.tool_calls ?? []), ...calls] }
      else if (rest.content) say('assistant', rest.content)
    },
    endRound,
    messages() {
      endRound()
      return messages
    },
  }
}

/** The first result of each call. */
function resultsOf({ input }: InputOf, clean: Clean): Map<string, string> {
  const results = input.flatMap((item) =>
    item.type === 'tool_result' ? [[item.callId, clean(item.output)] as const] : [],
  )
  return new Map(results.reverse())
}

/** Templates parse the arguments, so broken ones would make the server refuse every further request. */
function toWireCall(call: ChatCompletionMessageFunctionToolCall): ChatCompletionMessageFunctionToolCall {
  const { name, arguments: args } = call.function
  const sent = isJson(args) ? args : JSON.stringify({ unreadable: args })
  return { ...call, id: toWireId(call.id), function: { name, arguments: sent } }
}

/** Some templates accept only nine letters and digits, and calls may come from another service. */
function toWireId(callId: string): string {
  if (/^[a-zA-Z0-9]{9}$/.test(callId)) return callId
  return createHash('sha256').update(callId).digest('hex').slice(0, 9)
}

const callSchema = z.looseObject({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
})
/** Extra fields go back as the service made them. */
const blobSchema = z.looseObject({ content: z.string().nullable(), tool_calls: z.array(callSchema) })
