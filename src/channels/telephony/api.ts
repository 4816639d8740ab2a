import type { Twilio } from 'twilio'
import type { Settings } from '../../settings/settings.ts'
import { connectTelephony, type TelephonyCredentials, telephonyCredentials } from './rest.ts'

export type TelephonyApi = {
  /** What signs in to the provider's API now; null where the settings lack something. */
  credentials(): TelephonyCredentials | null
  /** A client with the credentials in force; null without any. */
  client(): Promise<Twilio | null>
}

/** The provider's API, by the settings in force at each use. `requestMs` is how long a request may take. */
export function createTelephonyApi(
  settings: Pick<Settings, 'get'>,
  limits: { readonly requestMs?: number | undefined } = {},
): TelephonyApi {
  let built: { readonly by: string; readonly client: Promise<Twilio> } | null = null

  function credentials(): TelephonyCredentials | null {
    return telephonyCredentials({
      accountSid: settings.get('TELEPHONY_ACCOUNT_SID'),
      authToken: settings.get('TELEPHONY_AUTH_TOKEN'),
      apiKeySid: settings.get('TELEPHONY_API_KEY_SID'),
      apiKeySecret: settings.get('TELEPHONY_API_KEY_SECRET'),
      baseUrl: settings.get('TELEPHONY_API_BASE_URL'),
    })
  }

  return {
    credentials,
    async client() {
      const wanted = credentials()
      if (wanted === null) return null
      const by = JSON.stringify(wanted)
      if (built?.by !== by) built = { by, client: connectTelephony(wanted, limits) }
      return built.client
    },
  }
}

/** Ends a call at the provider; without credentials the caller closes the stream, and the markup ends the call. */
export function createHangUp(api: TelephonyApi): (callSid: string) => Promise<void> {
  return async (callSid) => {
    const client = await api.client()
    await client?.calls(callSid).update({ status: 'completed' })
  }
}
