import { startWithPhone } from '../phone-harness.ts'
import { followRelay } from './relay-caller.ts'

/** The whole service with a text model, whose calls are relayed. */
export async function startWithRelay(options: Parameters<typeof startWithPhone>[0] = {}) {
  const phone = await startWithPhone({
    ...options,
    environment: { PHONE_CARRIAGE: 'relay', ...options.environment },
  })
  const at = { port: phone.service.port, provider: phone.provider }
  return {
    ...phone,
    /** Rings, then connects the relay that the markup names. */
    async dial(
      callSid: string,
      from: string,
      how: Partial<Pick<Parameters<typeof followRelay>[1], 'factor' | 'reports' | 'action'>> = {},
    ) {
      const { text: markup } = await phone.provider.ring(callSid, from)
      return followRelay(at, { callSid, from, markup, ...how })
    },
  }
}
