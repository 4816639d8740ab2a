import type { z } from '@hono/zod-openapi'
import { streamSSE } from 'hono/streaming'
import type { NotReplaced, ReceivedMessage } from '../../agent/chat.ts'
import { msg } from '../../language/msg.ts'
import { type messageFields, say, stop } from '../contract/chat.ts'
import type { RefusalStatus } from '../contract/problem.ts'
import type { RouteDeps } from '../features.ts'
import { goneSignal, type Routes } from '../server/env.ts'
import { conflict, invalidField, problemOf, Refusal, unknown } from '../server/problem.ts'

export function chatRoutes(routes: Routes, deps: RouteDeps): void {
  const { agent, ending } = deps
  const { chat, previews } = agent

  routes.openapi(say, async (c) => {
    const message = await takeMessage(deps, c.req.valid('json'))
    const signal = AbortSignal.any([goneSignal(c), ending])
    if (c.req.header('accept')?.includes('text/event-stream')) {
      return streamSSE(c, async (stream) => {
        const send = (event: string, data: object) => stream.writeSSE({ event, data: JSON.stringify(data) })
        const { turnId, conversationId } = message
        let sent: Promise<void> = send('chat.working', { turnId })
        const queue = (event: string, data: object) => {
          sent = sent.then(() => send(event, data))
        }
        const current = previews.current()
        if (current?.turnId === turnId && current.text !== '')
          queue('chat.delta', { turnId, text: current.text })
        const unsubscribe = previews.subscribe((event) => {
          if (event.turnId === turnId && event.type === 'delta')
            queue('chat.delta', { turnId, text: event.text })
        })
        try {
          const outcome = await chat.outcomeOf(message, signal)
          if (outcome.status === 'failed') throw turnRefusal(outcome)
          queue('chat.response', { turnId, content: outcome.text, conversationId })
        } catch (error) {
          if (!(error instanceof Refusal)) throw error
          queue('chat.error', { turnId, problem: problemOf(error) })
        } finally {
          unsubscribe()
        }
        queue('chat.done', { turnId })
        await sent
        // A stream's status is sent before its outcome is known, but the types require the JSON response.
      }) as never
    }
    const outcome = await chat.outcomeOf(message, signal)
    if (outcome.status === 'failed') throw turnRefusal(outcome)
    const { turnId, conversationId, spanId, text, usage } = outcome
    return c.json({ turnId, conversationId, spanId, reply: { text }, usage }, 200)
  })

  routes.openapi(stop, (c) => c.json({ stopped: agent.attention.stop() }, 200))
}

/** Records a message of the owner. Throws the refusal if its model is unknown, or it can replace nothing. */
export async function takeMessage(
  { agent: { chat }, models }: Pick<RouteDeps, 'agent' | 'models'>,
  { content, clientMessageId, pasted, model, replaces }: z.output<z.ZodObject<typeof messageFields>>,
): Promise<ReceivedMessage> {
  if (model && !chat.wasReceived(clientMessageId) && !models.knows(model.service))
    throw invalidField('model.service', msg`must be one of your model services`)
  const message = { ...(pasted && { pasted }), model }
  if (replaces === undefined) return chat.receive(content, clientMessageId, message)
  const received = await chat.replace(replaces, content, clientMessageId, message)
  if ('refused' in received) throw notReplaced(received.refused)
  return received
}

function notReplaced(reason: NotReplaced): Refusal {
  if (reason === 'unknown') return unknown('turn')
  return reason === 'erased'
    ? conflict('message_erased', msg`The message was erased, so it cannot be changed or answered again.`)
    : conflict('not_last_message', msg`Only your last message can be changed or answered again.`)
}

/** The budget covers a sliding 24 hours, so it may have room again at any time. */
const BUDGET_RETRY_SECONDS = 3600

/** The refusal for a failed turn: 502 for the model service, 500 for this service. `text` is shown to the owner. */
export function turnRefusal({ kind, text }: { readonly kind: string; readonly text: string }): Refusal {
  if (kind === 'budget' || kind === 'allowance') {
    return new Refusal(429, `${kind}_spent`, text, {
      headers: { 'Retry-After': String(BUDGET_RETRY_SECONDS) },
    })
  }
  const isOwn = kind === 'internal' || kind === 'interrupted'
  const status: RefusalStatus = isOwn ? 500 : 502
  return new Refusal(status, isOwn ? `turn_${kind}` : `model_${kind}`, text)
}
