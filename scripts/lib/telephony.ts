import { existsSync } from 'node:fs'
import type { Twilio } from 'twilio'
import { loadConfig } from '../../src/config.ts'
import { createTelephonyApi } from '../../src/phone/line/api.ts'
import { explain } from '../../src/phone/line/check.ts'
import { openSecretBox } from '../../src/settings/secrets.ts'
import { createSettings, type Settings } from '../../src/settings/settings.ts'
import { openSettingsStore, settingsFile } from '../../src/settings/store.ts'
import { Refused } from './command.ts'

/** Runs `work` with the current settings, even while the service runs. They cannot be changed. */
export async function withSettings<T>(dataDir: string, work: (settings: Settings) => Promise<T>): Promise<T> {
  if (!existsSync(settingsFile(dataDir))) {
    throw new Refused(`There is no service in ${dataDir}. Set DATA_DIR to its directory.`)
  }
  const store = openSettingsStore(dataDir)
  try {
    const settings = createSettings({
      store,
      secrets: openSecretBox(dataDir),
      environment: loadConfig().settings,
      append: () => Promise.reject(new Error('operator scripts change no settings')),
      onWarning: (message) => process.stderr.write(`${message}\n`),
    })
    return await work(settings)
  } finally {
    store.close()
  }
}

/** Runs `work` with a client of the provider's API, and explains what the provider refuses. */
export async function withTelephony(
  dataDir: string,
  work: (client: Twilio, settings: Settings) => Promise<void>,
): Promise<void> {
  await withSettings(dataDir, async (settings) => {
    const client = await createTelephonyApi(settings).client()
    if (client === null) {
      throw new Refused(
        'Set TELEPHONY_ACCOUNT_SID and TELEPHONY_AUTH_TOKEN in the settings first. ' +
          'A token that was entered for another TELEPHONY_API_BASE_URL is not used.',
      )
    }
    try {
      await work(client, settings)
    } catch (error) {
      if (error instanceof Refused) throw error
      throw new Refused(explain(error), { cause: error })
    }
  })
}

/** A setting that the script requires. */
export function required(settings: Settings, key: 'TELEPHONY_APP_SID' | 'PUBLIC_URL'): string {
  const value = settings.get(key)
  if (value === null) throw new Refused(`Set ${key} in the settings first.`)
  return value
}

type Application = {
  readonly sid: string
  readonly friendlyName: string
  readonly voiceUrl: string
  readonly smsUrl: string
  readonly statusCallback: string
  readonly messageStatusCallback: string
}

/** Formats an application for people. */
export function applicationLines(application: Application): string {
  const { sid, friendlyName, voiceUrl, smsUrl, statusCallback, messageStatusCallback } = application
  const or = (value: string | null | undefined) => value || '(none)'
  return [
    `${sid}  ${or(friendlyName)}`,
    `  voice          ${or(voiceUrl)}`,
    `  SMS            ${or(smsUrl)}`,
    `  call status    ${or(statusCallback)}`,
    `  message status ${or(messageStatusCallback)}`,
    '',
  ].join('\n')
}
