import * as z from 'zod'
import { msg } from '../../language/msg.ts'
import { isTlsRefused, networkCode, neverReached } from '../../lib/never-reached.ts'
import { kindsOfService } from '../kinds.ts'
import { ModelError } from '../port.ts'
import { attemptOnce } from './attempts.ts'
import { saysNoPath } from './capabilities.ts'
import { attemptOptions, type OpenAiCore } from './core.ts'
import { contextOf, entriesSchema, type ListEntry } from './list-entry.ts'

export type ListedModel = {
  readonly id: string
  /** The length of its context, where the list tells it. */
  readonly contextTokens: number | null
}

const listSchema = z.object({ data: entriesSchema })

/** One request for the list, without a retry. Rejects with what the SDK or zod throws. */
export async function requestEntries(core: OpenAiCore, signal: AbortSignal): Promise<readonly ListEntry[]> {
  const { modelsPath, listHeaders } = kindsOfService[core.kind]
  const headers = (core.apiKey !== null && listHeaders?.(core.apiKey)) || {}
  const client = await core.load()
  const read = async (path: string) => listSchema.parse(await client.get(path, { signal, headers })).data
  if (modelsPath === undefined) return read('/models')
  return read(new URL(modelsPath, core.baseUrl).href).catch((error: unknown) => {
    // An older server, or another one behind this address.
    if (!saysNoPath(error)) throw error
    return read('/models')
  })
}

/** The same, as the owner chooses from it. */
export async function requestModels(core: OpenAiCore, signal: AbortSignal): Promise<ListedModel[]> {
  const entries = await requestEntries(core, signal)
  return entries.map((entry) => ({ id: entry.id, contextTokens: contextOf(entry) }))
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
  if (usual === null)
    return msg`Nothing answers at ${origin}. Is the server running, and is this its address?`
  return needsKey
    ? msg`Nothing answers at ${origin}. Is this machine online?`
    : msg`Nothing answers at ${origin}. Is ${title} running?`
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
