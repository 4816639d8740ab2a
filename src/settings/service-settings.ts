import * as z from 'zod'
import { english } from '../language/message.ts'
import { msg } from '../language/msg.ts'
import { modelApis } from '../model/openai/defaults.ts'
import { MAIN, MAX_ID_CHARS, modelChoiceSchema, serviceEntrySchema } from '../model/words.ts'
import { setting } from './setting.ts'
import { serviceUrlSchema, tokenSchema } from './setting-schemas.ts'

/** The most services besides `main`. */
export const MAX_SERVICES = 8
const MAX_FALLBACKS = 4

const serviceSchema = serviceEntrySchema.extend({
  baseUrl: serviceUrlSchema,
  api: z.enum(modelApis).default('auto'),
})

/** A setting whose value is JSON, kept in one canonical form. */
function jsonSchema<S extends z.ZodType>(schema: S, expected: string) {
  return z
    .string()
    .trim()
    .max(20_000)
    .transform((text, context) => {
      try {
        return JSON.stringify(schema.parse(JSON.parse(text)))
      } catch {
        context.addIssue(expected)
        return z.NEVER
      }
    })
}

const servicesSchema = z
  .array(serviceSchema)
  .max(MAX_SERVICES)
  .refine((services) => new Set(services.map(({ id }) => id)).size === services.length)

const idSchema = z
  .string()
  .trim()
  .max(MAX_ID_CHARS)
  .regex(/^[a-z0-9][a-z0-9-]*$/, english`must be the id of a model service, like main`)

const serviceOf = (title: string, purpose: string) =>
  setting(idSchema, {
    group: 'model',
    title,
    default: MAIN,
    sensitive: true,
    description: msg`The id of the model service ${purpose}; main is the one of OPENAI_BASE_URL.`,
  })

/** The settings of further model services, of what each is used for, and of what answers if one fails. */
export const serviceSettings = {
  SERVICES: setting(
    jsonSchema(
      servicesSchema,
      english`must be JSON like [{"id":"claude","kind":"anthropic","title":"Claude","baseUrl":"https://api.anthropic.com/v1","api":"auto"}], with at most 8 services`,
    ),
    {
      group: 'model',
      title: english`Further services`,
      default: null,
      sensitive: true,
      description: english`Model services besides main, as a JSON list of at most 8: id, kind (openai, anthropic, gemini, openrouter, ollama, lmstudio, other), title, baseUrl, api.`,
    },
  ),
  SERVICE_KEYS: setting(
    jsonSchema(
      z.record(z.string().max(MAX_ID_CHARS), tokenSchema),
      english`must be JSON like {"claude":"the key"}, with the ids of your services`,
    ),
    {
      group: 'model',
      title: english`Keys of further services`,
      default: null,
      secret: true,
      description: english`Their API keys, as a JSON map from id to key. They are used only while every address in SERVICES is the one they were entered for.`,
    },
  ),
  CHAT_SERVICE: serviceOf(english`Service for chat`, english`that answers in chat and SMS`),
  UTILITY_SERVICE: serviceOf(english`Service for background work`, english`for background work`),
  EMBEDDING_SERVICE: serviceOf(english`Service for embeddings`, english`that makes embeddings for recall`),
  TRANSCRIPTION_SERVICE: serviceOf(
    english`Service for transcription`,
    english`that writes down what is said, in calls and recordings`,
  ),
  SPEECH_SERVICE: serviceOf(
    english`Service for speech`,
    english`that speaks in calls and reads answers aloud`,
  ),
  REALTIME_SERVICE: serviceOf(english`Service for calls`, english`for phone calls`),
  CHAT_FALLBACK: setting(
    jsonSchema(
      z.array(modelChoiceSchema).max(MAX_FALLBACKS),
      english`must be JSON like [{"service":"local","model":"qwen3"}], with at most 4 models`,
    ),
    {
      group: 'model',
      title: english`Fallback for chat`,
      default: null,
      sensitive: true,
      description: english`What answers if the chat model fails before its first word, in order, as a JSON list of at most 4: service and model. The service builtin is the builtin model.`,
    },
  ),
}

const keysSchema = z.record(z.string(), z.string())
const addressesSchema = z.array(z.object({ id: z.string(), baseUrl: z.string() }))

/** The single keys in a value of SERVICE_KEYS. */
export const keysIn = (value: unknown): string[] => Object.values(keysSchema.parse(JSON.parse(String(value))))

/** Where the keys of SERVICE_KEYS are sent under a value of SERVICES: the origin of each service. */
export const originsIn = (services: unknown): string =>
  addressesSchema
    .parse(JSON.parse(String(services ?? '[]')))
    .map(({ id, baseUrl }) => `${id} ${new URL(baseUrl).origin}`)
    .toSorted()
    .join(', ')
