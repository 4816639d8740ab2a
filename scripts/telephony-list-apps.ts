import { runCommand } from './lib/command.ts'
import { applicationLines, withTelephony } from './lib/telephony.ts'

const MAX_LISTED = 200

await runCommand({
  help: 'Usage: npm run script:list-apps\n\nLists the applications of the telephony account and where they point.\n',
  positionals: { min: 0, max: 0 },
  async run({ dataDir }) {
    await withTelephony(dataDir, async (client, settings) => {
      const applications = await client.applications.list({ limit: MAX_LISTED })
      for (const application of applications) process.stdout.write(applicationLines(application))
      const current = settings.get('TELEPHONY_APP_SID')
      process.stdout.write(
        `${applications.length} application(s); TELEPHONY_APP_SID is ${current ?? 'not set'}.\n`,
      )
    })
  },
})
