import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { declined, filtered, MAX_NAME_CHARS, tokens, toUsage } from '../openai/answer.ts'
import { afterThoughts, createThoughtFilter } from './thoughts.ts'

/** Some services send parts, and thoughts among them. */
const contentSchema = z
  .union([
    z.string(),
    z
      .array(z.looseObject({ type: z.string(), text: z.string().catch('') }))
      .transform((parts) => parts.map(({ type, text }) => (type === 'text' ? text : '')).join('')),
  ])
  .nullish()

const pieceSchema = z.looseObject({
  index: z.int().nullish().catch(null),
  id: z.string().nullish().catch(null),
  type: z.unknown().optional(),
  function: z.object({ name: z.string().nullish(), arguments: z.unknown().optional() }).nullish(),
})
type Piece = z.output<typeof pieceSchema>

const messageSchema = z.object({
  content: contentSchema,
  refusal: z.string().nullish(),
  tool_calls: z.array(pieceSchema).nullish(),
  reasoning_content: z.string().nullish().catch(null),
  reasoning_details: z.array(z.unknown()).nullish().catch(null),
})

const usageSchema = z
  .object({
    prompt_tokens: tokens,
    completion_tokens: tokens,
    prompt_tokens_details: z.object({ cached_tokens: tokens }).nullish().catch(null),
  })
  .transform((usage) => ({
    input_tokens: usage.prompt_tokens,
    output_tokens: usage.completion_tokens,
    input_tokens_details: usage.prompt_tokens_details,
  }))
  .nullish()
  .catch(null)

/** A chunk of a stream, or a whole answer. */
const chunkSchema = z.object({
  id: z.string().nullish().catch(null),
  choices: z.array(
    z.object({
      delta: messageSchema.nullish(),
      message: messageSchema.nullish(),
      finish_reason: z.string().nullish(),
    }),
  ),
  usage: usageSchema,
})

/** Puts an answer together from its chunks, which may be one. `add` throws ZodError for anything else. */
export function createAssembly(secrets: readonly string[]) {
  const thoughts = createThoughtFilter()
  const calls = createCalls()
  let text = ''
  let refusal = ''
  let id: string | null = null
  let finishReason: string | null = null
  let usage: z.output<typeof usageSchema> = null
  let reasoning = ''
  const details: unknown[] = []

  function show(visible: string): string {
    text += visible
    return visible
  }

  return {
    /** Returns the text to show. */
    add(raw: unknown): string {
      const chunk = chunkSchema.parse(raw)
      id ||= chunk.id ?? null
      usage = chunk.usage ?? usage
      const [choice] = chunk.choices
      if (!choice) return ''
      finishReason = choice.finish_reason || finishReason
      const message = choice.delta ?? choice.message
      refusal += message?.refusal ?? ''
      reasoning += message?.reasoning_content ?? ''
      details.push(...(message?.reasoning_details ?? []))
      for (const piece of message?.tool_calls ?? []) calls.add(piece)
      return show(thoughts.push(message?.content ?? '') + (choice.finish_reason ? thoughts.end() : ''))
    },

    /** Null unless the service said that the answer is finished. Throws ModelError `refused` if it declined. */
    finish(sent: () => string) {
      if (finishReason === null) return null
      if (refusal !== '') throw declined(refusal, secrets)
      if (finishReason === 'content_filter') throw filtered()
      const truncated = finishReason === 'length'
      const made = calls.finish(truncated)
      const kept = {
        ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
        ...(details.length === 0 ? {} : { reasoning_details: details }),
      }
      const hasExtras =
        Object.keys(kept).length > 0 || made.some(({ extra }) => Object.keys(extra).length > 0)
      const toolCalls = made.map(({ extra: _, ...call }) => call)
      return {
        id,
        text: afterThoughts(text),
        toolCalls,
        truncated,
        usage: toUsage(usage, sent, [text, toolCalls]),
        // Reasoning and signatures go back with the results of the calls; nothing else needs them.
        blob: made.length > 0 && hasExtras && !truncated ? toBlob(afterThoughts(text), made, kept) : null,
      }
    },
  }
}

type Call = {
  readonly callId: string
  readonly name: string
  readonly arguments: string
  /** Further fields of the service, such as a signature. */
  readonly extra: Readonly<Record<string, unknown>>
}

function toBlob(text: string, calls: readonly Call[], kept: object): string {
  const tool_calls = calls.map(({ callId, name, arguments: args, extra }) => ({
    ...extra,
    id: callId,
    type: 'function',
    function: { name, arguments: args },
  }))
  return JSON.stringify({ ...kept, content: text || null, tool_calls })
}

type Slot = { index: number | null; id: string | null; name: string; args: string; extra: object }

/** Puts calls together from pieces, which may lack the index, the id, or both. */
function createCalls() {
  const slots: Slot[] = []

  /** The call that a piece continues. */
  function slotOf({ index, id, function: made }: Piece): Slot | undefined {
    const slot = index == null ? slots.at(-1) : slots.findLast((each) => each.index === index)
    if (!slot) return undefined
    // Some servers give every call the index 0, or none.
    if (id && slot.id && id !== slot.id) return slots.find((each) => each.id === id)
    const isNamedAgain = Boolean(made?.name) && !(id && id === slot.id)
    return isNamedAgain && isJson(slot.args) ? undefined : slot
  }

  return {
    add(piece: Piece): void {
      const { index, id, type: _, function: made, ...extra } = piece
      const begun = slotOf(piece)
      const slot: Slot = begun ?? { index: index ?? null, id: null, name: '', args: '', extra: {} }
      if (!begun) slots.push(slot)
      slot.id ||= id || null
      slot.name ||= made?.name ?? ''
      slot.extra = { ...slot.extra, ...extra }
      const args = made?.arguments ?? ''
      slot.args += typeof args === 'string' ? args : JSON.stringify(args)
    },

    /** Throws ZodError for an unusable name. Leaves out calls that were cut. */
    finish(truncated: boolean): Call[] {
      const taken = new Set<string>()
      return slots.flatMap(({ id, name, args, extra }) => {
        if (truncated && !isJson(args)) return []
        if (name === '' || name.length > MAX_NAME_CHARS) throw new z.ZodError([])
        const isUsable = id !== null && id.length <= 200 && !taken.has(id)
        const callId = isUsable ? id : `call_${randomUUID()}`
        taken.add(callId)
        return [{ callId, name, arguments: args || '{}', extra: { ...extra } }]
      })
    },
  }
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}
