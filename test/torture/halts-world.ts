import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type Answerer, startModelDouble } from '../doubles/model/model-double.ts'
import { httpFaults } from '../doubles/model/script.ts'
import { startTelephonyDouble } from '../doubles/telephony/telephony-double.ts'
import { ACCOUNT, AUTH_TOKEN, NUMBER, OWNER, PUBLIC_URL } from '../phone/provider.ts'

/** What reached the world so far. */
export type Effects = Readonly<Record<'texts' | 'webhooks' | 'tasks' | 'background', number>>

const ACTS = [
  { name: 'send_sms', arguments: { to: OWNER, text: 'Against all orders' } },
  { name: 'dispatch_task', arguments: { title: 'Against orders', prompt: 'anything', notify: 'webhook' } },
  { name: 'create_note', arguments: { title: 'Against orders', content: 'all of them' } },
  { name: 'remember', arguments: { text: 'The owner gives no orders' } },
]
/** So that compaction is due after each turn. */
const HUGE = { inputTokens: 1_000_000, outputTokens: 10 }

/**
 * All that a service can have an effect on: a provider, a webhook, a program, and a model that calls every tool
 * that acts in every turn, offered or not.
 */
export async function startWorld(directory: string) {
  const programs = join(directory, 'programs')
  let webhooks = 0
  /** Requests to the model for activations, texts and learning. */
  let background = 0
  let isTooLong = false

  const answer: Answerer = ({ body }) => {
    const instructions = String(body.instructions ?? '')
    const isUnasked = /Nobody has spoken to you|answering by text message/.test(instructions)
    if (isUnasked) background += 1
    const hasTools = Array.isArray(body.tools) && body.tools.length > 0
    // A summary, or a turn of a guest.
    if (!hasTools || isUnasked) return { text: 'Something was said.', usage: HUGE }
    const last = (body.input as { type?: string }[]).at(-1)
    if (last?.type === 'function_call_output') return { text: 'Done.', usage: HUGE }
    if (isTooLong) {
      isTooLong = false
      return { fault: httpFaults.contextTooLong() }
    }
    return { toolCalls: ACTS, usage: HUGE }
  }
  const [model, telephony] = await Promise.all([
    startModelDouble({ validate: false, record: false }),
    startTelephonyDouble({ accountSid: ACCOUNT, authToken: AUTH_TOKEN }),
  ])
  model.answerWith(answer)
  model.answerMemoryWith(() => {
    background += 1
    return { text: '{"candidates":[]}' }
  })
  const receiver = createServer((incoming, response) => {
    webhooks += 1
    incoming.resume()
    response.writeHead(204).end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))

  return {
    effects: (): Effects => ({
      texts: telephony.messages.length,
      webhooks,
      tasks: existsSync(programs) ? readFileSync(programs, 'utf8').length : 0,
      background,
    }),
    /** The next turn is refused as too long, which compacts the conversation. */
    forceCompaction() {
      isTooLong = true
    },
    environment: {
      OPENAI_API_KEY: 'sk-test-key-of-the-double',
      OPENAI_BASE_URL: model.url,
      CHAT_MODEL: 'test-model',
      UTILITY_MODEL: 'test-model',
      PUBLIC_URL,
      OWNER_PHONE_NUMBER: OWNER,
      TELEPHONY_ACCOUNT_SID: ACCOUNT,
      TELEPHONY_AUTH_TOKEN: AUTH_TOKEN,
      TELEPHONY_PHONE_NUMBER: NUMBER,
      TELEPHONY_API_BASE_URL: telephony.url,
      DELIVERY_WEBHOOK_URL: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`,
      DELIVERY_WEBHOOK_SECRET: 'the secret of the webhook',
      COPILOT_COMMAND: JSON.stringify(['/bin/sh', '-c', `printf x >> '${programs}'`]),
      DAILY_TOKENS: 'unlimited',
      DAILY_TEXTS: 'unlimited',
    },
    async close() {
      receiver.closeAllConnections()
      receiver.close()
      await telephony.close()
      await model.close().catch(() => undefined)
    },
  }
}
