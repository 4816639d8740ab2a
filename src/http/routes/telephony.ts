import { msg } from '../../language/msg.ts'
import { explain } from '../../phone/line/check.ts'
import { planNumber } from '../../phone/line/pointing.ts'
import { plan, point } from '../contract/telephony.ts'
import type { RouteDeps } from '../features.ts'
import type { Routes } from '../server/env.ts'
import { conflict, Refusal } from '../server/problem.ts'

/** The delegate's phone number at the provider. */
export function telephonyRoutes(routes: Routes, { telephony, owner: { settings } }: RouteDeps): void {
  async function prepare() {
    const client = await telephony.client()
    if (client === null)
      throw incomplete(msg`Set TELEPHONY_ACCOUNT_SID and TELEPHONY_AUTH_TOKEN in the settings first.`)
    const number = settings.get('TELEPHONY_PHONE_NUMBER')
    if (number === null) throw incomplete(msg`Set TELEPHONY_PHONE_NUMBER in the settings first.`)
    const publicUrl = settings.get('PUBLIC_URL')
    if (!publicUrl?.startsWith('https://'))
      throw incomplete(msg`Set PUBLIC_URL to the https address of this service on the internet.`)
    const applicationSid = settings.get('TELEPHONY_APP_SID')
    const found = await askProvider(() =>
      planNumber(client, { phoneNumber: number, applicationSid, publicUrl }),
    )
    if (found === null) throw conflict('unknown_number', msg`${number} is not a number of this account.`)
    return { found, answer: { number, publicUrl, changes: found.changes } }
  }

  routes.openapi(plan, async (c) => c.json((await prepare()).answer, 200))
  routes.openapi(point, async (c) => {
    const { found, answer } = await prepare()
    await askProvider(found.apply)
    return c.json(answer, 200)
  })
}

function incomplete(detail: string): Refusal {
  return conflict('telephony_incomplete', detail)
}

/** Turns a failure of the provider or the network into a refusal that explains it. */
async function askProvider<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw new Refusal(502, 'telephony_failed', explain(cause), { cause })
  }
}
