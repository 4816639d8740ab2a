import * as z from 'zod'
import type { Candidate } from '../../src/memory/learn/candidate.ts'
import { ModelError, type StructuredModel, type StructuredRequest } from '../../src/model/port.ts'

const conversationSchema = z.object({
  timezone: z.string(),
  turns: z.array(
    z.object({
      seq: z.number(),
      at: z.string(),
      speaker: z.enum(['owner', 'delegate']),
      text: z.string(),
      quotable: z.boolean(),
      agreedTo: z.string().optional(),
    }),
  ),
})
const memoriesSchema = z.object({
  memories: z.array(
    z.object({
      id: z.string(),
      text: z.string(),
      subject: z.string(),
      slot: z.string(),
      since: z.string(),
    }),
  ),
})

/** What an extraction request shows the model. */
export type Shown = z.output<typeof conversationSchema> & z.output<typeof memoriesSchema>

/** The answer: candidates, an error, or raw output. */
export type ScriptedAnswer = readonly Partial<Candidate>[] | ModelError | { readonly raw: unknown }

export type ScriptedModel = StructuredModel & { readonly asked: readonly Shown[] }

/** Answers extraction as scripted, and rejects output that does not match the schema. */
export function scriptedModel(
  answer: (shown: Shown, signal: AbortSignal) => ScriptedAnswer | Promise<ScriptedAnswer>,
): ScriptedModel {
  const asked: Shown[] = []
  return {
    id: { provider: 'scripted', model: 'utility' },
    asked,
    async answer<S extends z.ZodType>(request: StructuredRequest<S>, signal: AbortSignal) {
      const shown = read(request)
      asked.push(shown)
      const given = await answer(shown, signal)
      if (given instanceof ModelError) throw given
      const value = 'raw' in given ? given.raw : { candidates: given.map(withDefaults) }
      const parsed = request.schema.safeParse(value)
      if (!parsed.success) throw new ModelError('malformed', 'the output does not match the schema')
      return { value: parsed.data, usage: { inputTokens: 100, outputTokens: 10, cachedTokens: 0 } }
    },
  }
}

function withDefaults(candidate: Partial<Candidate>): Candidate {
  return {
    kind: 'identity',
    subject: 'owner',
    slot: '',
    value: '',
    text: '',
    quote: '',
    modality: 'asserted',
    speaker: 'owner',
    secrecy: 'keep',
    ends: null,
    keywords: [],
    singleValued: false,
    eventTime: null,
    validUntil: null,
    relations: [],
    ...candidate,
  }
}

function read({ input }: Pick<StructuredRequest<z.ZodType>, 'input'>): Shown {
  const textOf = (label: string) => {
    const item = input.find((each) => each.type === 'inner' && each.label === label)
    return item?.type === 'inner' ? JSON.parse(item.text) : {}
  }
  return { ...conversationSchema.parse(textOf('conversation')), ...memoriesSchema.parse(textOf('memories')) }
}
