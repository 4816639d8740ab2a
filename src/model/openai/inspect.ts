import { ModelError } from '../port.ts'
import { type ServiceFeature, serviceFeatures } from '../words.ts'
import { attemptOnce } from './attempts.ts'
import { type Checked, checkService, offers } from './check.ts'
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
): Promise<Inspected> {
  const checked = await checkService(core, model, signal)
  const isAnswering = checked.steps.some(({ name, ok }) => name === 'authorised' && ok)
  return { ...checked, can: isAnswering ? await canDo(core, signal) : [] }
}

async function canDo(core: OpenAiCore, signal: AbortSignal): Promise<CanDo[]> {
  if (core.isOpenAi)
    return serviceFeatures.map((feature) => ({ feature, ok: true, detail: 'OpenAI has it.' }))
  const [responses, completions, embeddings, transcription, speech, compaction] = await Promise.all(
    [
      '/responses',
      '/chat/completions',
      '/embeddings',
      '/audio/transcriptions',
      '/audio/speech',
      '/responses/compact',
    ].map((path) => tryPath(core, path, signal)),
  )
  const endpoint = (feature: CanDo['feature'], ok: boolean | null = null): CanDo => ({
    feature,
    ok,
    detail:
      ok === null ? 'This could not be tested.' : ok ? 'It has the endpoint.' : 'It has no such endpoint.',
  })
  return [
    chat(responses, completions),
    endpoint('embeddings', embeddings),
    endpoint('transcription', transcription),
    endpoint('speech', speech),
    endpoint('compaction', responses === false ? false : compaction),
    { feature: 'realtime', ok: false, detail: 'Calls need OpenAI.' },
  ]
}

function chat(responses: boolean | null = null, completions: boolean | null = null): CanDo {
  if (responses) return { feature: 'chat', ok: true, detail: 'It has the Responses API.' }
  if (completions) return { feature: 'chat', ok: true, detail: 'It has chat completions.' }
  const isKnown = responses === false && completions === false
  const detail = isKnown
    ? 'It has neither the Responses API nor chat completions.'
    : 'This could not be tested.'
  return { feature: 'chat', ok: isKnown ? false : null, detail }
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
