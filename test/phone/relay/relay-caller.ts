import { onTestFinished } from 'vitest'
import type { Script } from '../../doubles/realtime/session.ts'
import { openRelay, type RelayClient } from '../../doubles/telephony-relay/relay-client.ts'
import type { Caller } from '../phone-harness.ts'
import { ACCOUNT, type createProvider } from '../provider.ts'

type Provider = ReturnType<typeof createProvider>

/** How many times faster than real time the provider speaks and callers talk. */
const FACTOR = 20
/** The audio of a character in slow speech. */
const BYTES_A_CHARACTER = 520

/** The provider's side of a call by relay, from the markup that opens it. Its sockets and webhooks are signed. */
export async function followRelay(
  { port, provider }: { readonly port: number; readonly provider: Provider },
  options: Omit<Parameters<typeof openRelay>[0], 'origin' | 'action'> &
    Partial<Pick<Parameters<typeof openRelay>[0], 'action'>>,
): Promise<RelayClient> {
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

/** A caller by relay, who says what the script has a caller on a media stream say. */
export function asMediaCaller(relay: RelayClient, script: Script): Caller {
  return {
    ...relay,
    async say() {
      const words = script.words(script.counters.utterances++)
      if (words === null) relay.cough()
      else await relay.say(words)
    },
    heardBytes: () => Buffer.alloc(relay.heardText().length * BYTES_A_CHARACTER),
  }
}
