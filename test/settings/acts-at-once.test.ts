import { expect, test } from 'vitest'
import { isSettingKey, settingKeys } from '../../src/settings/registry.ts'
import { startWithModel } from '../browser/model.ts'
import type { Trials } from './trial.ts'
import { backupTrials } from './trials-of-backups.ts'
import { moneyTrials } from './trials-of-money.ts'
import {
  apiKeyTrials,
  deliveryTrials,
  ownerTrials,
  rightsTrials,
  telephonyTrials,
} from './trials-of-service.ts'
import { serviceTrials } from './trials-of-services.ts'
import { conversationTrials, modelTrials } from './trials-of-talk.ts'
import { startWorld } from './world.ts'

/** Groups of settings, with the environment that the service starts with. */
const worlds: [string, Trials, Readonly<Record<string, string>>][] = [
  ['the model service', modelTrials, {}],
  ['several model services', serviceTrials, {}],
  ['money', moneyTrials, {}],
  ['the conversation', conversationTrials, {}],
  ['the telephone', telephonyTrials, {}],
  ['the rights by phone', rightsTrials, {}],
  ['an account without its auth token', apiKeyTrials, { TELEPHONY_AUTH_TOKEN: '' }],
  ['the owner and the way in', ownerTrials, {}],
  ['tasks and their outcomes', deliveryTrials, {}],
  ['backups', backupTrials, { BACKUP_PASSPHRASE: 'seven grey herons' }],
]

test('tests every setting', () => {
  const tried = worlds.flatMap(([, each]) => Object.keys(each))
  expect(tried.sort()).toEqual([...settingKeys].sort())
})

/** The trials of the others take longer. */
const DAILY = ['money', 'the conversation', 'the telephone']

for (const [what, tried, environment] of worlds)
  test(`applies changes to ${what} while the service runs`, {
    tags: DAILY.includes(what) ? [] : ['long'],
  }, async () => {
    const world = await startWorld(environment)
    for (const [key, { values, given, see, expected }] of Object.entries(tried)) {
      if (!isSettingKey(key)) throw new Error(`${key} is not a setting`)
      if (given) await world.put(given)
      for (const value of typeof values === 'function' ? values(world) : values) {
        await world.put({ [key]: value })
        const seen = await see(world, value).catch((error: unknown) => {
          throw new Error(`${key} set to ${value}`, { cause: error })
        })
        expect([key, seen]).toEqual([key, expected ? expected(value) : value])
      }
      await world.ok(world.client.delete(`/api/config/${key}`))
    }
  })

test('switches between the builtin model and a model service between two messages', async () => {
  const { service, model } = await startWithModel({
    environment: { OPENAI_API_KEY: '', OPENAI_BASE_URL: '' },
  })
  const { client } = service
  model.answerWith(() => ({ text: 'From the service.' }))
  const say = async () => (await client.post('/api/chat', { content: 'Hello' })).json.reply.text
  expect(await say()).not.toBe('From the service.')
  const entries = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'sk-of-the-double', CHAT_MODEL: 'm' }
  expect((await client.put('/api/config', { entries })).status).toBe(200)
  expect(await say()).toBe('From the service.')
  await client.delete('/api/config/OPENAI_BASE_URL')
  await client.delete('/api/config/OPENAI_API_KEY')
  expect(await say()).not.toBe('From the service.')
})
