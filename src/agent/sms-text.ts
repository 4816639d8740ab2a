import type { EventOf } from '../../ledger/event.ts'

/** The key of the fact that puts a turn's reply on its way by text. */
export const replyKey = (turnId: string) => `reply:${turnId}`

/** A text as the model is given it: what hangs on it is named, because nobody has looked at it. */
export function textWithMedia(event: Pick<EventOf<'sms.received'>, 'facts' | 'body'>): string {
  const text = event.body?.text ?? ''
  const { mediaTypes } = event.facts
  if (mediaTypes.length === 0) return text
  return `${text}\n[With ${mediaTypes.length} attachment(s) that cannot be opened here: ${mediaTypes.join(', ')}]`.trim()
}
