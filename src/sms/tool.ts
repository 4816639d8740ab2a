import { createHash } from 'node:crypto'
import * as z from 'zod'
import type { Append } from '../../ledger/event.ts'
import { type ActingContext, defineTool, type Tool } from '../model/tool.ts'
import { isPhoneNumber } from '../settings/party.ts'
import { phoneNumberSchema } from '../settings/setting-schemas.ts'

const MAX_CHARS = 1_600
const MAX_ATTEMPTS = 3

/** Asks the owner to confirm a text in the browser. */
export type ProposeText = (
  text: { readonly target: string; readonly text: string },
  context: ActingContext,
) => Promise<{ readonly expiresAt: string }>

/**
 * The tool that texts the owner. For any other number it only proposes the text, and the owner must confirm
 * it in the browser: caller ID can be forged, and a model can be manipulated.
 */
export function smsTools(options: {
  readonly append: Append
  readonly propose: ProposeText
  readonly ownerNumbers: () => readonly string[]
  readonly isOptedOut: (number: string) => boolean
  readonly isConfigured: () => boolean
}): Tool[] {
  const { append } = options

  /** Why `target` cannot be texted, or null. */
  function obstacle(target: string): { reason: string; message: string } | null {
    if (!isPhoneNumber(target))
      return {
        reason: 'invalid_number',
        message: 'That is not a phone number with its country code, like +493012345678.',
      }
    if (!options.isConfigured())
      return { reason: 'not_configured', message: 'No telephony account is set up in the settings.' }
    if (options.isOptedOut(target))
      return { reason: 'opted_out', message: 'That number asked for no more texts.' }
    return null
  }

  async function request(target: string, text: string, context: ActingContext) {
    const deliveryId = digest(context.turnId, context.callId)
    await append([
      {
        type: 'delivery.requested',
        actor: 'delegate',
        channel: 'sms',
        conversationId: context.conversationId,
        spanId: context.spanId,
        turnId: context.turnId,
        key: context.key,
        causedBy: context.calledSeq,
        derivedFrom: [context.calledSeq],
        facts: { deliveryId, channel: 'sms', taskId: null, maxAttempts: MAX_ATTEMPTS },
        body: { target, text },
      },
    ])
    return deliveryId
  }

  return [
    defineTool({
      name: 'send_sms',
      // To the owner. A text to somebody else, and a doubtful one, becomes a proposal.
      class: 'free',
      description:
        'Sends a text message. `to` null: the phone of the owner. For any other number (like +493012345678) the ' +
        'text is shown to the owner in the browser, and goes out when they press Send there.',
      parameters: z.object({ to: z.string().max(40).nullable(), text: z.string().min(1).max(MAX_CHARS) }),
      idempotent: true,
      readOnly: false,
      texts: true,
      async run({ to, text }, context) {
        const owners = options.ownerNumbers()
        const target = to === null ? owners[0] : (phoneNumberSchema.safeParse(to).data ?? to)
        if (target === undefined) {
          const message = 'No phone number of the owner is set in the settings.'
          return { ok: false, reason: 'no_number', message }
        }
        const refused = obstacle(target)
        if (refused !== null) return { ok: false, ...refused }
        if (context.isDoubtful || !owners.includes(target)) {
          const { expiresAt } = await options.propose({ target, text }, context)
          return {
            ok: false,
            reason: 'needs_confirmation',
            message:
              `Nothing was sent yet. The text to ${target} waits on the timeline in the browser, with the buttons ` +
              `Send and Do not send, until ${expiresAt}. Tell the owner to press Send there; do not call this again.`,
          }
        }
        const deliveryId = await request(target, text, context)
        return { ok: true, data: { status: 'on its way' }, refs: [{ kind: 'delivery', id: deliveryId }] }
      },
    }),
  ]
}

function digest(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}
