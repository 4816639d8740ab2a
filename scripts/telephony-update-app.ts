import { webhookUrls } from '../src/channels/telephony/check.ts'
import { runCommand } from './lib/command.ts'
import { required, withTelephony } from './lib/telephony.ts'

const NAMES = {
  voiceUrl: 'voice',
  smsUrl: 'SMS',
  statusCallback: 'call status',
  messageStatusCallback: 'message status',
} as const

await runCommand({
  help: 'Usage: npm run script:update-app\n\nPoints the application of TELEPHONY_APP_SID to the Public URL, and says what changed.\n',
  positionals: { min: 0, max: 0 },
  async run({ dataDir }) {
    await withTelephony(dataDir, async (client, settings) => {
      const sid = required(settings, 'TELEPHONY_APP_SID')
      const wanted = webhookUrls(required(settings, 'PUBLIC_URL'))
      const application = client.applications(sid)
      const before = await application.fetch()
      const changed = (['voiceUrl', 'smsUrl', 'statusCallback', 'messageStatusCallback'] as const).filter(
        (key) => before[key] !== wanted[key],
      )
      if (changed.length === 0) {
        process.stdout.write(`${sid} points to the Public URL already; nothing changed.\n`)
        return
      }
      await application.update(wanted)
      for (const key of changed) {
        process.stdout.write(`${NAMES[key]}: ${before[key] || '(none)'} -> ${wanted[key]}\n`)
      }
    })
  },
})
