import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Answerer, startModelDouble } from '../../doubles/model/model-double.ts'
import { startTelephonyDouble } from '../../doubles/telephony/telephony-double.ts'
import { ACCOUNT, AUTH_TOKEN, NUMBER, OWNER, PUBLIC_URL } from '../../phone/provider.ts'
import type { Random } from '../../support/random.ts'

/** A word that occurs in one request of a client, and in whatever comes of it. */
export const MARK = /mark\d+x/g
const SLOW_SENDS = 0.3
const SEND_MS = 300

/**
 * What both nodes have an effect on: one provider, often slow to answer, one program, and one model. It texts the
 * owner when it is asked to, and repeats the mark of a request, with a number of its own.
 */
export async function startWorld(directory: string, random: Random) {
  const programs = join(directory, 'programs')
  let answers = 0

  const answer: Answerer = ({ body }) => {
    answers += 1
    const input = Array.isArray(body.input) ? body.input : []
    const mark = JSON.stringify(input).match(MARK)?.at(-1) ?? ''
    const isAsked = JSON.stringify(input.at(-1) ?? '').includes('text me')
    const text = `Answer ${answers} to ${mark}`
    if (isAsked) return { toolCalls: [{ name: 'send_sms', arguments: { to: OWNER, text } }] }
    return { text }
  }
  const [model, telephony] = await Promise.all([
    startModelDouble({ validate: false, record: false }),
    startTelephonyDouble({ accountSid: ACCOUNT, authToken: AUTH_TOKEN }),
  ])
  model.answerWith(answer)

  return {
    /** Makes some of the next texts slow, so that faults come while they are being sent. */
    slowDown() {
      if (!random.chance(SLOW_SENDS)) return
      const until = new Promise((resolve) => setTimeout(resolve, random.next() * SEND_MS))
      telephony.fail({ type: 'accept_then_wait', until })
    },
    /** The words of each text that reached a phone. */
    texts: () => telephony.messages.map(({ body }) => body),
    /** The task of each program that was started. */
    started: () => (existsSync(programs) ? readFileSync(programs, 'utf8').split('\n').filter(Boolean) : []),
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
      COPILOT_COMMAND: JSON.stringify([
        '/bin/sh',
        '-c',
        `printf '%s\\n' "$DELEGATE_TASK_ID" >> '${programs}'`,
      ]),
      DAILY_TOKENS: 'unlimited',
      DAILY_TEXTS: 'unlimited',
    },
    async close() {
      await telephony.close()
      await model.close().catch(() => undefined)
    },
  }
}

export type World = Awaited<ReturnType<typeof startWorld>>
