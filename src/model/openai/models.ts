import * as z from 'zod'
import { isTlsRefused, networkCode, neverReached } from '../../lib/never-reached.ts'
import { kindsOfService } from '../kinds.ts'
import { ModelError } from '../port.ts'
import { attemptOnce } from './attempts.ts'
import { saysNoPath } from './capabilities.ts'
import { attemptOptions, type OpenAiCore } from './core.ts'

export type ListedModel = {
  readonly id: string
  /** The length of its context, where the list tells it. */
  readonly contextTokens: number | null
}

const length = z.int().positive().nullish().catch(null)

const modelsSchema = z.object({
  data: z.array(
    z
      .object({
        id: z.string(),
        // OpenRouter and Together; vLLM; LM Studio and Mistral; Groq; Anthropic; llama.cpp.
        context_length: length,
        max_model_len: length,
        max_context_length: length,
        context_window: length,
        max_input_tokens: length,
        meta: z.object({ n_ctx_train: length }).nullish().catch(null),
      })
      .transform(({ id, meta, ...lengths }): ListedModel => {
        const [contextTokens = null] = [...Object.values(lengths), meta?.n_ctx_train].filter(
          (each) => typeof each === 'number',
        )
        return { id, contextTokens }
      }),
  ),
})

/** One request for the list, without a retry. Rejects with what the SDK or zod throws. */
export async function requestModels(core: OpenAiCore, signal: AbortSignal): Promise<ListedModel[]> {
  const { modelsPath, listHeaders } = kindsOfService[core.kind]
  const headers = (core.apiKey !== null && listHeaders?.(core.apiKey)) || {}
  const client = await core.load()
  const read = async (path: string) => modelsSchema.parse(await client.get(path, { signal, headers })).data
  if (modelsPath === undefined) return read('/models')
  return read(new URL(modelsPath, core.baseUrl).href).catch((error: unknown) => {
    // An older server, or another one behind this address.
    if (!saysNoPath(error)) throw error
    return read('/models')
  })
}

const CHECK_DEADLINE_MS = 10_000

/** Somebody waits for the outcome of a check, so it is asked once and soon. */
export function onceAndSoon(core: OpenAiCore, signal: AbortSignal) {
  const deadlineMs = Math.min(core.limits.deadlineMs, CHECK_DEADLINE_MS)
  const options = attemptOptions(core, signal)
  const classify = (error: unknown) =>
    neverReached(error) && !isTlsRefused(networkCode(error))
      ? { error: new ModelError('unavailable', nothingAnswers(core)), retry: false }
      : options.classify(error)
  return { ...options, classify, limits: { ...core.limits, attempts: 1, deadlineMs } }
}

/** Says what to look at if nothing listens at the address. */
function nothingAnswers({ baseUrl, kind }: OpenAiCore): string {
  const { title, baseUrl: usual, needsKey } = kindsOfService[kind]
  const { origin } = new URL(baseUrl)
  if (usual === null) return `Nothing answers at ${origin}. Is the server running, and is this its address?`
  return `Nothing answers at ${origin}. Is ${needsKey ? 'this machine online' : `${title} running`}?`
}

/** The models of a service; none if it does not list them. Throws ModelError if it does not answer. */
export function listModels(core: OpenAiCore, signal: AbortSignal): Promise<readonly ListedModel[]> {
  return attemptOnce(
    async (attemptSignal) => {
      try {
        return await requestModels(core, attemptSignal)
      } catch (error) {
        if (saysNoPath(error)) return []
        throw error
      }
    },
    onceAndSoon(core, signal),
  )
}
