import { createHash } from 'node:crypto'
import * as z from 'zod'
import type { Append } from '../../../ledger/event.ts'
import type { LedgerReader } from '../../../ledger/reader.ts'
import { defineTool, type Tool, type ToolContext } from '../../tools/tool.ts'

const MAX_CHARS = 1_600
const MAX_ATTEMPTS = 3
/** How long a text to somebody else waits for the owner's word in the browser. */
const CONFIRM_WITHIN_MS = 30 * 60_000
const E164 = /^\+[1-9]\d{6,14}$/

/**
 * Texts the owner; anybody else only once the owner has said so in the browser. Caller ID can be forged and a model
 * can be talked into things, so this is checked in code: the very text must have been proposed before, and the
 * message that the turn answers must come from the browser, name the very number and say yes to it.
 */
export function smsTools(options: {
  readonly append: Append
  readonly ledger: LedgerReader
  readonly ownerNumbers: () => readonly string[]
  readonly isOptedOut: (number: string) => boolean
  readonly isConfigured: () => boolean
}): Tool[] {
  const { append, ledger } = options
  /** Proposals by their digest, until when they may be confirmed; lost with the process, then asked for again. */
  const proposed = new Map<string, number>()

  function isConfirmed(to: string, text: string, context: ToolContext): boolean {
    const untilMs = proposed.get(digest(to, text)) ?? 0
    if (context.channel !== 'chat' || context.messageSeq === null || context.nowMs > untilMs) return false
    const [message] = ledger.readSeqs([context.messageSeq])
    if (message?.type !== 'chat.message.received' || message.actor !== 'owner' || !message.body) return false
    const digits = message.body.text.replace(/[\s().-]/g, '')
    return digits.includes(to) && /\b(?:yes|confirm(?:ed)?|send|ja|oui|sí)\b/iu.test(message.body.text)
  }

  return [
    defineTool({
      name: 'send_sms',
      description:
        'Sends a text message. `to` null: the phone of the owner. Any other number (like +493012345678) has to be ' +
        'confirmed by the owner in the browser chat first.',
      parameters: z.object({ to: z.string().max(20).nullable(), text: z.string().min(1).max(MAX_CHARS) }),
      idempotent: true,
      readOnly: false,
      async run({ to, text }, context) {
        const owners = options.ownerNumbers()
        const target = to === null ? owners[0] : to.replace(/[\s().-]/g, '')
        if (target === undefined) {
          return {
            ok: false,
            reason: 'no_number',
            message: 'No phone number of the owner is set in the settings.',
          }
        }
        if (!E164.test(target))
          return { ok: false, reason: 'invalid_number', message: 'That is not a phone number.' }
        if (!options.isConfigured()) {
          return {
            ok: false,
            reason: 'not_configured',
            message: 'No telephony account is set up in the settings.',
          }
        }
        if (options.isOptedOut(target)) {
          return { ok: false, reason: 'opted_out', message: 'That number asked for no more texts.' }
        }
        if (!owners.includes(target) && !isConfirmed(target, text, context)) {
          proposed.set(digest(target, text), context.nowMs + CONFIRM_WITHIN_MS)
          return {
            ok: false,
            reason: 'needs_confirmation',
            message:
              `Nothing was sent. Show the owner the text and ask them to write in the browser chat: ` +
              `"Yes, send it to ${target}". Then call this again with exactly the same text.`,
          }
        }
        proposed.delete(digest(target, text))
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
        return { ok: true, data: { status: 'on its way' }, refs: [{ kind: 'delivery', id: deliveryId }] }
      },
    }),
  ]
}

function digest(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}
