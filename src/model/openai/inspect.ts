import { english } from '../../language/message.ts'
import { msg, translated } from '../../language/msg.ts'
import { ModelError } from '../port.ts'
import { type ServiceFeature, serviceFeatures } from '../words.ts'
import { attemptOnce } from './attempts.ts'
import { type Checked, checkService, offers } from './check.ts'
import { createContextSizes } from './context-sizes.ts'
import type { OpenAiCore } from './core.ts'
import { onceAndSoon } from './models.ts'

/** What a service can do, as far as that is known for free; null if nobody knows. */
export type CanDo = {
  readonly feature: ServiceFeature
  readonly ok: boolean | null
  readonly detail: string
}

export type Inspected = Checked & { readonly can: readonly CanDo[] }

/** Checks a service and what it offers: an endpoint that refuses an empty request exists, and that costs nothing. */
export async function inspectService(
  core: OpenAiCore,
  model: string | null,
  signal: AbortSignal,
  contextTokens?: number,
): Promise<Inspected> {
  const context = model === null ? null : createContextSizes(core)(model, contextTokens)
  const checked = await checkService(core, model, signal, context)
  const isAnswering = checked.steps.some(({ name, ok }) => name === 'authorised' && ok)
  return { ...checked, can: isAnswering ? await canDo(core, signal) : [] }
}

const ENDPOINTS = [
  ['embeddings', '/embeddings'],
  ['transcription', '/audio/transcriptions'],
  ['speech', '/audio/speech'],
  ['compaction', '/responses/compact'],
] as const

async function canDo(core: OpenAiCore, signal: AbortSignal): Promise<CanDo[]> {
  if (core.isOpenAi)
    return serviceFeatures.map((feature) => ({ feature, ok: true, detail: msg`OpenAI has it.` }))
  const offered = (path: string) => tryPath(core, path, signal)
  const [responses, completions] = await Promise.all(['/responses', '/chat/completions'].map(offered))
  const others = ENDPOINTS.map(async ([feature, path]) => {
    const ok = await offered(path)
    const detail =
      ok === null
        ? translated(UNKNOWN)
        : ok
          ? msg`It has an endpoint for ${feature}.`
          : msg`It has no endpoint for ${feature}.`
    return { feature, ok, detail }
  })
  const realtime = {
    feature: 'realtime',
    ok: null,
    detail: msg`Not tested. Without a realtime model, calls use transcription and speech.`,
  } as const
  return [chat(responses, completions), ...(await Promise.all(others)), realtime]
}

const UNKNOWN = english`This could not be found out.`

function chat(responses: boolean | null = null, completions: boolean | null = null): CanDo {
  const feature = 'chat'
  if (responses) return { feature, ok: true, detail: msg`It has the Responses API.` }
  if (completions) return { feature, ok: true, detail: msg`It has chat completions.` }
  if (responses === null || completions === null) return { feature, ok: null, detail: translated(UNKNOWN) }
  return { feature, ok: false, detail: msg`It has neither the Responses API nor chat completions.` }
}

/** Whether the service has a path; null if it does not say. */
async function tryPath(core: OpenAiCore, path: string, signal: AbortSignal): Promise<boolean | null> {
  try {
    return await attemptOnce((attemptSignal) => offers(core, path, attemptSignal), onceAndSoon(core, signal))
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ModelError) return null
    throw error
  }
}
