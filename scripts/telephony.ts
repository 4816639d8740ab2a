import twilio, { type Twilio } from 'twilio'
import { closing } from '../ledger/closing.ts'
import { loadConfig } from '../src/config.ts'
import { createTelephonyApi } from '../src/phone/line/api.ts'
import { explain } from '../src/phone/line/check.ts'
import { planApplication, webhookUrls } from '../src/phone/line/pointing.ts'
import type { SettingKey } from '../src/settings/registry.ts'
import { openSecretBox } from '../src/settings/secrets.ts'
import { createSettings, type Settings } from '../src/settings/settings.ts'
import { openSettingsStore } from '../src/settings/store.ts'
import { Refused, requireService, runCommand, takeCommand } from './lib/command.ts'

/** `npm run script:…`: the telephony commands. The first argument names one. */
type TelephonyCommand = {
  readonly help: string
  /** Whether it takes an argument. */
  readonly takes: 0 | 1
  run(settings: Settings, argument: string | undefined): Promise<void>
}

const MAX_LISTED = 200
/** Long enough for a test call, short enough to be left in a terminal. */
const TOKEN_LIFETIME_S = 3_600

const commands: Readonly<Record<string, TelephonyCommand>> = {
  'list-apps': {
    help: 'Usage: npm run script:list-apps\n\nLists the applications of the telephony account and where they point.\n',
    takes: 0,
    run: (settings) =>
      withClient(settings, async (client) => {
        const applications = await client.applications.list({ limit: MAX_LISTED })
        for (const application of applications) print(applicationLines(application))
        const current = settings.get('TELEPHONY_APP_SID') ?? 'not set'
        print(`${applications.length} application(s); TELEPHONY_APP_SID is ${current}.\n`)
      }),
  },
  'inspect-app': {
    help: 'Usage: npm run script:inspect-app [-- <sid>]\n\nShows an application, by default that of TELEPHONY_APP_SID.\n',
    takes: 1,
    run: (settings, sid) =>
      withClient(settings, async (client) => {
        const application = client.applications(sid ?? required(settings, 'TELEPHONY_APP_SID'))
        print(applicationLines(await application.fetch()))
      }),
  },
  'create-app': {
    help: 'Usage: npm run script:create-app [-- <name>]\n\nCreates an application that points to the Public URL, and prints its SID for TELEPHONY_APP_SID.\n',
    takes: 1,
    run: (settings, friendlyName = 'Delegate') =>
      withClient(settings, async (client) => {
        const urls = webhookUrls(required(settings, 'PUBLIC_URL'))
        const application = await client.applications.create({ friendlyName, ...urls })
        print(applicationLines(application))
        print(`Set TELEPHONY_APP_SID to ${application.sid} in the settings.\n`)
      }),
  },
  'update-app': {
    help: 'Usage: npm run script:update-app\n\nPoints the application of TELEPHONY_APP_SID to the Public URL, and prints what changed.\n',
    takes: 0,
    run: (settings) =>
      withClient(settings, async (client) => {
        const sid = required(settings, 'TELEPHONY_APP_SID')
        const { changes, apply } = await planApplication(client, sid, required(settings, 'PUBLIC_URL'))
        if (changes.length === 0) {
          print(`${sid} already points to the Public URL. Nothing was changed.\n`)
          return
        }
        await apply()
        for (const { name, from, to } of changes) print(`${name}: ${from ?? '(none)'} -> ${to}\n`)
      }),
  },
  token: {
    help: 'Usage: npm run script:token\n\nPrints an access token for a voice call from a browser, as the client identity "owner", valid for an hour.\nAnyone who has it can call as the owner: treat it like a password.\n',
    takes: 0,
    async run(settings) {
      const { AccessToken } = twilio.jwt
      const token = new AccessToken(
        required(settings, 'TELEPHONY_ACCOUNT_SID'),
        required(settings, 'TELEPHONY_API_KEY_SID'),
        required(settings, 'TELEPHONY_API_KEY_SECRET'),
        { identity: 'owner', ttl: TOKEN_LIFETIME_S },
      )
      const outgoingApplicationSid = required(settings, 'TELEPHONY_APP_SID')
      token.addGrant(new AccessToken.VoiceGrant({ outgoingApplicationSid, incomingAllow: false }))
      print(`${token.toJwt()}\n`)
    },
  },
}

const command = takeCommand(commands)

await runCommand({
  help: command.help,
  positionals: { min: 0, max: command.takes },
  run: async ({ dataDir, positionals: [argument] }) => {
    requireService(dataDir)
    using store = closing(openSettingsStore(dataDir))
    // The current settings, even while the service runs. They cannot be changed.
    const settings = createSettings({
      store,
      secrets: openSecretBox(dataDir),
      environment: loadConfig().settings,
      append: () => Promise.reject(new Error('operator scripts change no settings')),
      onWarning: (message) => process.stderr.write(`${message}\n`),
    })
    await command.run(settings, argument)
  },
})

/** Runs `work` with a client of the provider's API, and explains what the provider refuses. */
async function withClient(settings: Settings, work: (client: Twilio) => Promise<void>): Promise<void> {
  const client = await createTelephonyApi(settings).client()
  if (client === null)
    throw new Refused(
      'Set TELEPHONY_ACCOUNT_SID and TELEPHONY_AUTH_TOKEN in the settings first. ' +
        'A token that was entered for another TELEPHONY_API_BASE_URL is not used.',
    )
  try {
    await work(client)
  } catch (error) {
    if (error instanceof Refused) throw error
    throw new Refused(explain(error), { cause: error })
  }
}

/** A setting that the command requires. */
function required(settings: Settings, key: SettingKey): string {
  const value = settings.get(key)
  if (value === null) throw new Refused(`Set ${key} in the settings first.`)
  return String(value)
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
function applicationLines(application: Application): string {
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

function print(text: string): void {
  process.stdout.write(text)
}
