import { runCommand } from './lib/command.ts'
import { applicationLines, required, withTelephony } from './lib/telephony.ts'

await runCommand({
  help: 'Usage: npm run script:inspect-app [-- <sid>]\n\nShows an application, by default that of TELEPHONY_APP_SID.\n',
  positionals: { min: 0, max: 1 },
  async run({ dataDir, positionals }) {
    await withTelephony(dataDir, async (client, settings) => {
      const sid = positionals[0] ?? required(settings, 'TELEPHONY_APP_SID')
      process.stdout.write(applicationLines(await client.applications(sid).fetch()))
    })
  },
})
