import { onTestFinished } from 'vitest'
import { openRelay } from '../../doubles/telephony-relay/relay-client.ts'
import { startWithPhone } from '../phone-harness.ts'
import { ACCOUNT, type createProvider } from '../provider.ts'

type Provider = ReturnType<typeof createProvider>

/** How many times faster than real time the provider speaks and callers talk. */
const FACTOR = 20

/** The provider's side of a call by relay, from the markup that opens it. Its sockets and webhooks are signed. */
export async function followRelay(
  { port, provider }: { readonly port: number; readonly provider: Provider },
  options: {
    readonly callSid: string
    readonly from: string
    readonly markup: string
    readonly factor?: number
    readonly reports?: boolean
    /** Replaces the request for the markup after a relay. */
    readonly action?: (path: string, fields: Readonly<Record<string, string>>) => Promise<string>
  },
) {
  const caller = await openRelay({
    origin: `ws://127.0.0.1:${port}`,
    accountSid: ACCOUNT,
    factor: FACTOR,
    sign: provider.signUpgrade,
    action: async (path, fields) => (await provider.post(path, fields)).text,
    ...options,
  })
  onTestFinished(() => caller.abandon())
  return caller
}

/** The whole service with a text model, whose calls are relayed. */
export async function startWithRelay(options: Parameters<typeof startWithPhone>[0] = {}) {
  const phone = await startWithPhone({
    ...options,
    environment: { REALTIME_MODEL: '', ...options.environment },
  })
  const at = { port: phone.service.port, provider: phone.provider }
  return {
    ...phone,
    /** Rings, then connects the relay that the markup names. */
    async dial(
      callSid: string,
      from: string,
      how: Pick<Parameters<typeof followRelay>[1], 'factor' | 'reports' | 'action'> = {},
    ) {
      const { text: markup } = await phone.provider.ring(callSid, from)
      return followRelay(at, { callSid, from, markup, ...how })
    },
  }
}
