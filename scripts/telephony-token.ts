import twilio from 'twilio'
import { Refused, runCommand } from './lib/command.ts'
import { required, withSettings } from './lib/telephony.ts'

/** Long enough for a test call, short enough to be left in a terminal. */
const LIFETIME_S = 3_600

await runCommand({
  help: 'Usage: npm run script:token\n\nPrints an access token for a voice call from a browser, as the client identity "owner", valid for an hour.\nAnyone who has it can call as the owner: treat it like a password.\n',
  positionals: { min: 0, max: 0 },
  async run({ dataDir }) {
    await withSettings(dataDir, async (settings) => {
      const accountSid = settings.get('TELEPHONY_ACCOUNT_SID')
      const keySid = settings.get('TELEPHONY_API_KEY_SID')
      const keySecret = settings.get('TELEPHONY_API_KEY_SECRET')
      if (accountSid === null || keySid === null || keySecret === null) {
        throw new Refused(
          'Set TELEPHONY_ACCOUNT_SID, TELEPHONY_API_KEY_SID and TELEPHONY_API_KEY_SECRET in the settings first.',
        )
      }
      const { AccessToken } = twilio.jwt
      const token = new AccessToken(accountSid, keySid, keySecret, { identity: 'owner', ttl: LIFETIME_S })
      const outgoingApplicationSid = required(settings, 'TELEPHONY_APP_SID')
      token.addGrant(new AccessToken.VoiceGrant({ outgoingApplicationSid, incomingAllow: false }))
      process.stdout.write(`${token.toJwt()}\n`)
    })
  },
})
