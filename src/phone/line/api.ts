import type { Twilio } from 'twilio'
import type { Settings } from '../../settings/settings.ts'
import { connectTelephony, type TelephonyCredentials } from './rest.ts'

export type TelephonyApi = ReturnType<typeof createTelephonyApi>

/** The provider's API with the settings at the time of each use. `requestMs` is the request's time limit. */
export function createTelephonyApi(
  settings: Pick<Settings, 'get'>,
  limits: { readonly requestMs?: number | undefined } = {},
) {
  let built: { readonly by: string; readonly client: Promise<Twilio> } | null = null

  function credentials(): TelephonyCredentials | null {
    const accountSid = settings.get('TELEPHONY_ACCOUNT_SID')
    const authToken = settings.get('TELEPHONY_AUTH_TOKEN')
    const username = authToken === null ? settings.get('TELEPHONY_API_KEY_SID') : accountSid
    const password = authToken ?? settings.get('TELEPHONY_API_KEY_SECRET')
    if (accountSid === null || username === null || password === null) return null
    return { accountSid, username, password, baseUrl: settings.get('TELEPHONY_API_BASE_URL') }
  }

  return {
    /** The current credentials; null if the settings are incomplete. */
    credentials,
    /** A client with the current credentials, or null. The same client as long as they do not change. */
    async client(): Promise<Twilio | null> {
      const wanted = credentials()
      if (wanted === null) return null
      const by = JSON.stringify(wanted)
      if (built?.by !== by) built = { by, client: connectTelephony(wanted, limits) }
      return built.client
    },
  }
}

/** Ends a call at the provider. Does nothing without credentials. */
export function createHangUp(api: TelephonyApi): (callSid: string) => Promise<void> {
  return async (callSid) => {
    const client = await api.client()
    await client?.calls(callSid).update({ status: 'completed' })
  }
}
