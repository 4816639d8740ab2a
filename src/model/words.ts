import * as z from 'zod'
import { english } from '../language/message.ts'
import { modelApis } from './openai/defaults.ts'

/** The words and limits of what the owner says about model services. */

/** The service of the settings OPENAI_*. */
export const MAIN = 'main'
/** Names the builtin model where a service is named. */
export const BUILTIN = 'builtin'

export const serviceKinds = [
  'openai',
  'anthropic',
  'gemini',
  'openrouter',
  'ollama',
  'lmstudio',
  'other',
] as const
export type ServiceKind = (typeof serviceKinds)[number]

/** What models are used for. */
export const modelUses = ['chat', 'utility', 'embedding', 'transcription', 'speech', 'realtime'] as const
export type ModelUse = (typeof modelUses)[number]

/** What a service may offer. */
export const serviceFeatures = [
  'chat',
  'embeddings',
  'transcription',
  'speech',
  'compaction',
  'realtime',
] as const
export type ServiceFeature = (typeof serviceFeatures)[number]

export const MAX_ID_CHARS = 40

export const serviceEntrySchema = z.strictObject({
  id: z
    .string()
    .max(MAX_ID_CHARS)
    .regex(/^[a-z0-9][a-z0-9-]*$/, english`must be lower-case letters, digits and hyphens`)
    .refine((id) => id !== MAIN && id !== BUILTIN, english`must not be main or builtin`),
  kind: z.enum(serviceKinds),
  title: z.string().trim().min(1).max(60),
  baseUrl: z.string(),
  api: z.enum(modelApis),
})
export type ServiceEntry = z.output<typeof serviceEntrySchema>

/** A model by the id of its service and its name there. */
export const modelChoiceSchema = z.strictObject({
  service: z.string().min(1).max(MAX_ID_CHARS),
  model: z.string().trim().min(1).max(200),
})
export type ModelChoice = z.output<typeof modelChoiceSchema>
