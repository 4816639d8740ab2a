import * as z from 'zod'
import { parseJson } from '../../lib/parse-json.ts'
import { TOKEN_PARAMETER } from '../line/markup.ts'

const sid = z.string().min(1).max(100)
const text = z.string().max(20_000)
/** Of a relay's parameters, texts of any length are documented; ours are short. */
const parameters = z.record(z.string().max(500), z.string().max(500)).nullish()

/** What the provider sends, as far as a call uses it. `info` is observed, not documented. */
const relayMessage = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('setup'),
    sessionId: sid,
    callSid: sid,
    accountSid: sid,
    customParameters: parameters,
  }),
  z.object({ type: z.literal('prompt'), voicePrompt: text, last: z.boolean().default(true) }),
  z.object({ type: z.literal('interrupt'), utteranceUntilInterrupt: text.default('') }),
  z.object({ type: z.literal('dtmf'), digit: z.string().regex(/^[0-9*#A-D]$/) }),
  z.object({ type: z.literal('error'), description: z.string() }),
  z.object({ type: z.literal('info'), name: z.string().max(100), value: text }),
])

export type RelayMessage = z.output<typeof relayMessage>

/** Parses one text frame of a relay. Null if it is malformed or unknown. Never throws. */
export function parseRelayMessage(frame: string): RelayMessage | null {
  return relayMessage.safeParse(parseJson(frame)).data ?? null
}

/** Reads what a relay says first of its call; null for anything else. */
export function relayIntroduction(frame: string) {
  const message = parseRelayMessage(frame)
  if (message?.type !== 'setup') return null
  const { callSid, accountSid, sessionId, customParameters } = message
  return { callSid, accountSid, token: customParameters?.[TOKEN_PARAMETER] ?? '', sessionId }
}

/** Handed to the markup after a relay: the service had to give up the call. */
export const CUT_SHORT = 'cut short'

/** What we send. */
export const relayFrames = {
  /** `last` ends what is being said, so that the provider speaks all of it. */
  text: (token: string, last: boolean) => JSON.stringify({ type: 'text', token, last }),
  /** Ends the relay, not the call: the provider continues with the markup of the action. */
  end: (handoffData?: string) => JSON.stringify({ type: 'end', handoffData }),
}
