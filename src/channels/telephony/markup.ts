import MessagingResponse from 'twilio/lib/twiml/MessagingResponse.js'
import VoiceResponse from 'twilio/lib/twiml/VoiceResponse.js'

/** The stream parameter that carries the one-time token. */
export const TOKEN_PARAMETER = 'token'

/** What the provider says when the stream ends although the call goes on: the bridge is gone. */
const CONNECTION_ENDED = 'I lost the connection. Please call again if we were not done. Goodbye.'

/**
 * Opens a media stream to the service. The verbs behind it run only once the stream has ended and the caller is
 * still there, so a bridge that breaks is heard and not just silent. A stream URL carries no query: the provider
 * strips it, hence the parameter. `farewell` is what they say in place of a lost connection.
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
  response.say(plain(options.farewell ?? CONNECTION_ENDED))
  response.hangup()
  return response.toString()
}

/** Not answered and not billed: only as the very first verb does the provider treat it so. */
export function busyMarkup(): string {
  const response = new VoiceResponse()
  response.reject({ reason: 'busy' })
  return response.toString()
}

/** A spoken explanation, and the end of the call. */
export function sayMarkup(text: string): string {
  const response = new VoiceResponse()
  response.say(plain(text))
  response.hangup()
  return response.toString()
}

/** The answer to a text: a message, or nothing for now. */
export function messageMarkup(text: string | null): string {
  const response = new MessagingResponse()
  if (text !== null) response.message(sendable(text))
  return response.toString()
}

/** One line without the characters that XML cannot carry at all; the builder escapes the others. */
function plain(text: string): string {
  return sendable(text).replace(/\s+/g, ' ').trim()
}

/** Without the characters that XML cannot carry at all. */
function sendable(text: string): string {
  return text.replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
}
