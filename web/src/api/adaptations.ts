import type { Http } from './http.ts'
import { arrayField, asObject, booleanField, numberField, stringField, UnexpectedAnswer } from './json.ts'

export const adaptationChannels = ['chat', 'voice', 'sms'] as const
export type AdaptationChannel = (typeof adaptationChannels)[number]

export type Adaptation = {
  readonly id: string
  readonly title: string
  readonly content: string
  readonly enabled: boolean
  readonly channels: readonly AdaptationChannel[]
  readonly source: 'owner' | 'file'
  readonly updatedAt: string
}
export type AdaptationChange = Partial<Pick<Adaptation, 'title' | 'content' | 'enabled' | 'channels'>>

function parseChannel(value: unknown): AdaptationChannel {
  const channel = adaptationChannels.find((known) => known === value)
  if (!channel) throw new UnexpectedAnswer('channels')
  return channel
}

function parseAdaptation(value: unknown): Adaptation {
  const adaptation = asObject(value, 'adaptation')
  return {
    id: stringField(adaptation, 'id'),
    title: stringField(adaptation, 'title'),
    content: stringField(adaptation, 'content'),
    enabled: booleanField(adaptation, 'enabled'),
    channels: arrayField(adaptation, 'channels', parseChannel),
    source: stringField(adaptation, 'source') === 'file' ? 'file' : 'owner',
    updatedAt: stringField(adaptation, 'updatedAt'),
  }
}

const pathOf = (id: string) => `/api/adaptations/${encodeURIComponent(id)}`

export async function fetchAdaptations(http: Http, signal?: AbortSignal): Promise<readonly Adaptation[]> {
  const answer = asObject(await http('GET', '/api/adaptations', signal ? { signal } : {}), 'adaptations')
  return arrayField(answer, 'adaptations', parseAdaptation)
}

/** Creates the adaptation, or updates the given fields. Takes effect on the next turn. */
export async function saveAdaptation(http: Http, id: string, change: AdaptationChange): Promise<Adaptation> {
  return parseAdaptation(await http('POST', pathOf(id), { body: change }))
}

export async function removeAdaptation(http: Http, id: string): Promise<void> {
  await http('DELETE', pathOf(id))
}

/** The exact instructions that the model receives on a channel. */
export async function fetchInstructions(http: Http, channel: AdaptationChannel): Promise<string> {
  const answer = await http('GET', '/api/adaptations.preview', { query: { channel } })
  return stringField(asObject(answer, 'preview'), 'instructions')
}

export type Reloaded = {
  readonly loaded: number
  readonly skipped: readonly { readonly file: string; readonly reason: string }[]
}

export async function reloadAdaptations(http: Http): Promise<Reloaded> {
  const answer = asObject(await http('POST', '/api/adaptations.reload'), 'reload')
  return {
    loaded: numberField(answer, 'loaded'),
    skipped: arrayField(answer, 'skipped', (item) => {
      const skipped = asObject(item, 'skipped')
      return { file: stringField(skipped, 'file'), reason: stringField(skipped, 'reason') }
    }),
  }
}
