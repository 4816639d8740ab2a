import * as z from 'zod'

const optional = { lang: z.string().optional(), interruptible: z.boolean().optional() }

/** What an application may send to a relay, as the provider documents it. Anything else is refused. */
export const published = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('text'),
    token: z.string(),
    last: z.boolean().default(false),
    preemptible: z.boolean().optional(),
    ...optional,
  }),
  z.strictObject({
    type: z.literal('play'),
    source: z.url(),
    loop: z.int().optional(),
    preemptible: z.boolean().optional(),
    interruptible: z.boolean().optional(),
  }),
  z.strictObject({ type: z.literal('sendDigits'), digits: z.string().regex(/^[0-9w#*]+$/) }),
  z.strictObject({
    type: z.literal('language'),
    ttsLanguage: z.string().optional(),
    transcriptionLanguage: z.string().optional(),
  }),
  z.strictObject({ type: z.literal('end'), handoffData: z.string().optional() }),
])

/** Attributes of the relay in the markup, as the provider documents them. Others are ignored, so a typo is silent. */
const ATTRIBUTES = new Set(
  `url welcomeGreeting welcomeGreetingLanguage welcomeGreetingInterruptible language ttsLanguage
  transcriptionLanguage ttsProvider voice transcriptionProvider speechModel interruptible interruptSensitivity
  dtmfDetection reportInputDuringAgentSpeech preemptible hints events debug elevenlabsTextNormalization
  intelligenceService partialPrompts profanityFilter speechTimeout deepgramSmartFormat ignoreBackchannel`
    .split(/\s+/)
    .filter(Boolean),
)

export type RelayMarkup = {
  readonly url: string
  readonly action: string
  readonly token: string
  readonly attributes: Readonly<Record<string, string>>
}

/** Reads a relay from markup; null if there is none. Throws for an attribute that is not documented. */
export function relayOf(markup: string): RelayMarkup | null {
  const found = markup.match(/<Connect([^>]*)><ConversationRelay([^>]*)>(.*?)<\/ConversationRelay>/)
  if (!found) return null
  const [, connect = '', relay = '', inner = ''] = found
  const attributes = attributesOf(relay)
  for (const name of Object.keys(attributes))
    if (!ATTRIBUTES.has(name)) throw new Error(`the provider does not document the attribute ${name}`)
  const parameter = attributesOf(inner)
  return {
    url: attributes.url ?? '',
    action: attributesOf(connect).action ?? '',
    token: parameter.name === 'token' ? (parameter.value ?? '') : '',
    attributes,
  }
}

function attributesOf(element: string): Record<string, string> {
  return Object.fromEntries(
    [...element.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  )
}
