import * as z from 'zod'

export const CHANNELS = ['chat', 'voice', 'sms'] as const
export type AdaptationChannel = (typeof CHANNELS)[number]

/** What the owner or a file says. */
export type AdaptationWords = {
  readonly title: string
  readonly content: string
  readonly enabled: boolean
  readonly channels: readonly AdaptationChannel[]
}

export type Adaptation = AdaptationWords & {
  readonly id: string
  readonly source: 'owner' | 'file'
  readonly updatedAt: string
}

export type AdaptationChange = { readonly [K in keyof AdaptationWords]?: AdaptationWords[K] | undefined }

const MAX_TITLE_CHARS = 200
const MAX_CONTENT_CHARS = 20_000
/** Each request to the model includes all adaptations, so limits leave room for the conversation. */
export const MAX_ADAPTATIONS = 100
export const MAX_TOTAL_CHARS = 100_000

/** A name that is valid in a URL and as a file name. */
export const adaptationIdSchema = z
  .string()
  .max(100)
  .regex(/^[\p{L}\p{N}][\p{L}\p{N}._:@-]*$/u, 'must be letters, digits and . _ : @ - only')

export const channelsSchema = z.array(z.enum(CHANNELS)).min(1).max(20)

/** Sorts channels and removes duplicates. */
export function toChannels(given: readonly AdaptationChannel[]): readonly AdaptationChannel[] {
  return CHANNELS.filter((channel) => given.includes(channel))
}

export const titleSchema = z.string().trim().min(1).max(MAX_TITLE_CHARS)
export const contentSchema = z.string().min(1).max(MAX_CONTENT_CHARS)
