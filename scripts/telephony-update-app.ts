import { planApplication } from '../src/phone/line/pointing.ts'
import { runCommand } from './lib/command.ts'
import { required, withTelephony } from './lib/telephony.ts'

await runCommand({
  help: 'Usage: npm run script:update-app\n\nPoints the application of TELEPHONY_APP_SID to the Public URL, and prints what changed.\n',
  positionals: { min: 0, max: 0 },
  async run({ dataDir }) {
    await withTelephony(dataDir, async (client, settings) => {
      const sid = required(settings, 'TELEPHONY_APP_SID')
      const { changes, apply } = await planApplication(client, sid, required(settings, 'PUBLIC_URL'))
      if (changes.length === 0) {
        process.stdout.write(`${sid} already points to the Public URL. Nothing was changed.\n`)
        return
      }
      await apply()
      for (const { name, from, to } of changes) {
        process.stdout.write(`${name}: ${from ?? '(none)'} -> ${to}\n`)
      }
    })
  },
})
