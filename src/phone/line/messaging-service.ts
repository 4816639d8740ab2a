import type { Twilio } from 'twilio'
import { differences } from './pointing.ts'

/** Each takes a request, and few accounts have more than two. */
const MAX_SERVICES = 20
/** The provider's limit of a page, and more than a sender pool holds. */
const MAX_SENDERS = 1_000

/**
 * Finds the Messaging Service that holds the number and keeps its texts from the Public URL: the settings of
 * a service replace those of its numbers, unless it defers to them. Null if there is none. Throws the
 * provider's errors.
 */
export async function findDivertingService(client: Twilio, phoneNumber: string, publicUrl: string) {
  const { services } = client.messaging.v1
  for (const service of await services.list({ limit: MAX_SERVICES })) {
    const { useInboundWebhookOnNumber, inboundRequestUrl: smsUrl, inboundMethod: smsMethod } = service
    const { changes } = differences({ smsUrl, smsMethod }, publicUrl, ['SMS'])
    if (useInboundWebhookOnNumber || changes.length === 0) continue
    const senders = await services(service.sid).phoneNumbers.list({ limit: MAX_SENDERS })
    if (senders.some((sender) => sender.phoneNumber === phoneNumber)) return service
  }
  return null
}
