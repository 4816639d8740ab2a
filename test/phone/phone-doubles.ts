import { startModelDouble } from '../doubles/model/model-double.ts'
import { joinModelDoubles } from '../doubles/one-model-service.ts'
import { startRealtimeDouble } from '../doubles/realtime/realtime-double.ts'
import type { Script } from '../doubles/realtime/session.ts'
import { DOUBLE_PRICES } from '../support/prices.ts'
import { script } from './call/call-harness.ts'
import { type CarriageName, realtimeModels, relayedModels, speechModels } from './call-models.ts'
import { ACCOUNT, AUTH_TOKEN, NUMBER, OWNER, PUBLIC_URL } from './provider.ts'

/** The doubles of all models behind one address, with the environment that points a service at them. */
export async function startPhoneDoubles(given: Script = script(), carriage: CarriageName = 'realtime') {
  const [text, realtime] = await Promise.all([startModelDouble(), startRealtimeDouble(given)])
  const front = await joinModelDoubles(text.url, realtime.url)
  text.answerWith(() => ({ text: 'Yes.' }))
  const callModels = {
    realtime: () => realtimeModels(realtime),
    speech: () => speechModels(text, given),
    relay: () => relayedModels(text, given),
  }[carriage]()
  const environment = {
    OPENAI_API_KEY: 'sk-test-key-of-the-double',
    OPENAI_BASE_URL: front.url,
    CHAT_MODEL: 'test-model',
    PRICES: DOUBLE_PRICES,
    PUBLIC_URL,
    OWNER_PHONE_NUMBER: OWNER,
    TELEPHONY_ACCOUNT_SID: ACCOUNT,
    TELEPHONY_AUTH_TOKEN: AUTH_TOKEN,
    TELEPHONY_PHONE_NUMBER: NUMBER,
    TELEPHONY_API_BASE_URL: 'http://127.0.0.1:9',
    ...callModels.environment,
  }
  async function close(): Promise<void> {
    await front.close()
    await text.close()
    await realtime.close()
  }
  return { text, realtime, callModels, upgrades: front.upgrades, environment, close }
}
