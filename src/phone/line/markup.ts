import MessagingResponse from 'twilio/lib/twiml/MessagingResponse.js'
import VoiceResponse from 'twilio/lib/twiml/VoiceResponse.js'
import { languageNow, msg } from '../../language/msg.ts'

/** The parameter of a stream or a relay that carries the one-time token. */
export const TOKEN_PARAMETER = 'token'

const connectionEnded = () => msg`I lost the connection. Please call again if we were not done. Goodbye.`

/**
 * Opens a media stream to the service. The token is a parameter because the provider strips the query of a
 * stream URL. If the stream ends while the caller is still on the line, the caller hears `farewell`.
 */
export function connectMarkup(options: {
  readonly streamUrl: string
  readonly token: string
  readonly statusUrl?: string | undefined
  readonly farewell?: string | undefined
}): string {
  const response = new VoiceResponse()
  const status =
    options.statusUrl === undefined
      ? {}
      : { statusCallback: options.statusUrl, statusCallbackMethod: 'POST' as const }
  const stream = response.connect().stream({ url: options.streamUrl, ...status })
  stream.parameter({ name: TOKEN_PARAMETER, value: plain(options.token) })
  say(response, options.farewell ?? connectionEnded())
  response.hangup()
  return response.toString()
}

/**
 * Opens a relay, which hears and speaks for us. The provider asks the action for markup when it ends or breaks. Keys
 * are reported while the delegate speaks too, but only speech interrupts it.
 */
export function relayMarkup(options: {
  readonly relayUrl: string
  readonly actionUrl: string
  readonly token: string
}): string {
  const response = new VoiceResponse()
  const relay = response.connect({ action: options.actionUrl, method: 'POST' }).conversationRelay({
    url: options.relayUrl,
    interruptible: 'speech',
    dtmfDetection: true,
    partialPrompts: true,
    events: 'tokens-played',
    ...voice(),
    // The SDK's type lacks the documented values.
    ...{ reportInputDuringAgentSpeech: 'dtmf' as unknown as boolean },
  })
  relay.parameter({ name: TOKEN_PARAMETER, value: plain(options.token) })
  return response.toString()
}

/** Ends a call whose line was lost. */
export function lostMarkup(): string {
  return sayMarkup(connectionEnded())
}

/** Ends a call without a word. */
export function hangUpMarkup(): string {
  const response = new VoiceResponse()
  response.hangup()
  return response.toString()
}

/** Rejects the call as busy. The provider does not answer or bill it, because this is the first verb. */
export function busyMarkup(): string {
  const response = new VoiceResponse()
  response.reject({ reason: 'busy' })
  return response.toString()
}

/** Speaks `text` and hangs up. */
export function sayMarkup(text: string): string {
  const response = new VoiceResponse()
  say(response, text)
  response.hangup()
  return response.toString()
}

function say(response: VoiceResponse, text: string): void {
  response.say(voice(), plain(text))
}

/** For German, its voice, and in a relay also its speech recognition. The provider's default is English. */
const voice = () => (languageNow() === 'en' ? {} : ({ language: 'de-DE' } as const))

/** The response to an incoming text; null sends no message. */
export function messageMarkup(text: string | null): string {
  const response = new MessagingResponse()
  if (text !== null) response.message(sendable(text))
  return response.toString()
}

/** One line. The builder escapes markup. */
function plain(text: string): string {
  return sendable(text).replace(/\s+/g, ' ').trim()
}

/** Removes the characters that XML does not allow. */
function sendable(text: string): string {
  return text.replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
}
