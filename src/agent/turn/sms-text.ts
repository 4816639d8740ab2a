import type { EventOf } from '../../../ledger/event.ts'
import { ATTACHED } from '../../model/port.ts'

/** The key of the `delivery.requested` event that sends a turn's reply by text. */
export const replyKey = (turnId: string) => `reply:${turnId}`

/** A text for the model. Names the attachments, which nobody has opened. */
export function textWithMedia(event: Pick<EventOf<'sms.received'>, 'facts' | 'body'>): string {
  const text = event.body?.text ?? ''
  const { mediaTypes } = event.facts
  if (mediaTypes.length === 0) return text
  return `${text}\n${ATTACHED}${mediaTypes.join(', ')}]`.trim()
}
