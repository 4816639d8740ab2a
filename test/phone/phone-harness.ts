import { onTestFinished } from 'vitest'
import type { Script } from '../doubles/realtime/session.ts'
import { type MediaStreamClient, openMediaStream } from '../doubles/telephony-stream/media-stream-client.ts'
import { testDirectory } from '../support/directory.ts'
import { startWholeService, type WholeServiceOptions } from '../support/service.ts'
import { script as defaultScript } from './call/call-harness.ts'
import type { CarriageName } from './call-models.ts'
import { startPhoneDoubles } from './phone-doubles.ts'
import { ACCOUNT, createProvider, tokenOf } from './provider.ts'
import { asMediaCaller, followRelay } from './relay/relay-caller.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read events of every shape.
export type TimelineEvent = any

/** The whole service with a phone, the doubles of both models and the provider's webhooks. */
export async function startWithPhone(
  options: {
    readonly script?: Script
    /** What carries the calls; by default a realtime model. */
    readonly carriage?: CarriageName
    readonly directory?: string
    readonly environment?: Readonly<Record<string, string>>
    readonly nowMs?: () => number
    readonly outboundPauses?: WholeServiceOptions['outboundPauses']
    readonly waits?: WholeServiceOptions['waits']
    /** How many times faster than real time the callers speak. */
    readonly factor?: number
  } = {},
) {
  const script = options.script ?? defaultScript()
  const doubles = await startPhoneDoubles(script, options.carriage)
  const { text, realtime, callModels, upgrades, environment, close } = doubles
  const directory = options.directory ?? testDirectory()
  const service = await startWholeService({
    directory,
    ...(options.nowMs ? { nowMs: options.nowMs } : {}),
    outboundPauses: options.outboundPauses,
    waits: options.waits,
    environment: { ...environment, ...options.environment },
  })
  onTestFinished(async () => {
    await service.stop()
    await close()
  })
  const provider = createProvider(service.port)

  async function events(): Promise<TimelineEvent[]> {
    return (await service.client.get('/api/timeline?limit=5000')).json.events
  }
  /** The timeline once `holds` accepts it; a call's facts arrive after its audio. */
  async function eventsUntil(what: string, holds: (events: TimelineEvent[]) => boolean, withinMs = 60_000) {
    const untilMs = performance.now() + withinMs
    while (performance.now() < untilMs) {
      const found = await events()
      if (holds(found)) return found
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
    throw new Error(`timed out waiting for: ${what}; events: ${(await events()).map(({ type }) => type)}`)
  }
  async function follow(callSid: string, from: string, markup: string): Promise<Caller> {
    if (options.carriage !== 'relay') return stream(callSid, tokenOf(markup))
    const relay = await followRelay(
      { port: service.port, provider },
      { callSid, from, markup, factor: options.factor ?? 20 },
    )
    return asMediaCaller(relay, script)
  }
  async function stream(callSid: string, token: string) {
    const caller = await openMediaStream({
      url: `ws://127.0.0.1:${service.port}/call`,
      callSid,
      accountSid: ACCOUNT,
      token,
      factor: options.factor ?? 20,
    })
    onTestFinished(() => caller.drop())
    return caller
  }
  return {
    service,
    text,
    realtime,
    callModels,
    upgrades,
    provider,
    events,
    eventsUntil,
    stream,
    head: async () => (await events()).at(-1)?.seq ?? 0,
    /** Rings, then connects the stream that the markup names. */
    async dial(callSid: string, from: string) {
      const markup = (await provider.ring(callSid, from)).text
      return { markup, caller: await follow(callSid, from, markup) }
    },
  }
}

/** What a test does with a caller, whichever way the call is carried. */
export type Caller = Pick<
  MediaStreamClient,
  'say' | 'press' | 'wait' | 'until' | 'heardBytes' | 'hangUp' | 'drop' | 'closed'
>

export type PhoneService = Awaited<ReturnType<typeof startWithPhone>>

export const ofType = (events: readonly TimelineEvent[], type: string) =>
  events.filter((event) => event.type === type)

/** Everything said on the timeline, in order. */
export function spokenLines(events: readonly TimelineEvent[]): string[] {
  return events.flatMap(({ type, payload }) => {
    if (type === 'call.utterance.heard') return [`caller: ${payload.text}`]
    if (type === 'call.reply.spoken') return [`delegate: ${payload.text}`]
    if (type === 'chat.message.received') return [`owner: ${payload.text}`]
    return type === 'chat.reply.sent' ? [`delegate: ${payload.text}`] : []
  })
}
