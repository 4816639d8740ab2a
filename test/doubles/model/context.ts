import type { Json } from './answer.ts'
import type { Dialect } from './completions.ts'

/** Whom each names as the owner of its models. */
const OWNERS: Readonly<Record<Dialect, string>> = {
  openai: 'system',
  vllm: 'vllm',
  'llama.cpp': 'llamacpp',
  ollama: 'library',
}

/** What a server of the dialect answers to a GET, by its documentation. */
export function toldContext(
  dialect: Dialect,
  models: readonly string[],
  tokens: number,
): Readonly<Record<string, Json>> {
  const list = (more: Json = {}) => ({
    object: 'list',
    data: models.map((id) => ({ id, object: 'model', created: 1, owned_by: OWNERS[dialect], ...more })),
  })
  switch (dialect) {
    case 'openai':
      return {}
    case 'vllm':
      return { '/models': list({ root: 'm', parent: null, max_model_len: tokens }) }
    case 'llama.cpp':
      return {
        '/models': list({ meta: { vocab_type: 2, n_vocab: 128_256, n_ctx_train: 131_072 } }),
        '/props': { default_generation_settings: { id: 0, n_ctx: tokens }, total_slots: 1 },
      }
    case 'ollama':
      return {
        '/models': list(),
        '/api/ps': { models: models.map((name) => ({ name, model: name, context_length: tokens })) },
      }
  }
}

type Message = { readonly role: string; readonly content?: unknown; readonly tool_calls?: unknown }

/**
 * What Mistral refuses with “Unexpected role 'user' after role 'tool'” or “roles must alternate user and assistant”, and
 * other templates garble; null if the roles are in order.
 */
export function misplacedRole({ messages }: Json): string | null {
  const roles = (messages as readonly Message[]).map(({ role }) => role)
  const isMisplaced = (role: string, at: number) => role === 'user' && /user|tool/.test(roles[at - 1] ?? '')
  const at = roles.findIndex(isMisplaced)
  return at === -1 ? null : `a user follows a ${roles[at - 1]}`
}

const MARKS_A_MESSAGE = 6
const TEMPLATE = 100

/** Counts as a tokenizer does, roughly: pieces of words, and runs of other characters. */
export function tokensIn(text: string): number {
  return text.match(/[\p{Script=Han}\p{Script=Kana}]|[\p{L}\p{N}]{1,5}|[^\p{L}\p{N}\s]{1,4}/gu)?.length ?? 0
}

function tokensOf(messages: readonly Message[], tools: unknown): number {
  const said = messages.map(
    ({ content, tool_calls }) =>
      MARKS_A_MESSAGE +
      tokensIn(typeof content === 'string' ? content : '') +
      (tool_calls ? tokensIn(JSON.stringify(tool_calls)) : 0),
  )
  return said.reduce((sum, each) => sum + each, TEMPLATE) + (tools ? tokensIn(JSON.stringify(tools)) : 0)
}

/** How many tokens of a request, with the answer that it asks for, do not fit. */
export function excessOf({ messages, tools, max_tokens }: Json, contextTokens: number): number {
  if (!Array.isArray(messages)) return 0
  return tokensOf(messages, tools) + Number(max_tokens ?? 0) - contextTokens
}

/** Drops the oldest messages, as Ollama does: the system message and the last one stay. */
export function truncated(body: Json, contextTokens: number): Json {
  const messages = body.messages as Message[]
  const system = messages.filter(({ role }) => role === 'system')
  const said = messages.filter(({ role }) => role !== 'system')
  while (said.length > 1 && tokensOf([...system, ...said], body.tools) > contextTokens) said.shift()
  return { ...body, messages: [...system, ...said] }
}
