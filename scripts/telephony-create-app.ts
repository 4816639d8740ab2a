import { webhookUrls } from '../src/phone/line/pointing.ts'
import { runCommand } from './lib/command.ts'
import { applicationLines, required, withTelephony } from './lib/telephony.ts'

await runCommand({
  help: 'Usage: npm run script:create-app [-- <name>]\n\nCreates an application that points to the Public URL, and prints its SID for TELEPHONY_APP_SID.\n',
  positionals: { min: 0, max: 1 },
  async run({ dataDir, positionals }) {
    await withTelephony(dataDir, async (client, settings) => {
      const urls = webhookUrls(required(settings, 'PUBLIC_URL'))
      const application = await client.applications.create({
        friendlyName: positionals[0] ?? 'Delegate',
        ...urls,
      })
      process.stdout.write(applicationLines(application))
      process.stdout.write(`Set TELEPHONY_APP_SID to ${application.sid} in the settings.\n`)
    })
  },
})
