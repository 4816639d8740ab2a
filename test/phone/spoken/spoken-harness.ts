import { createDataBlocks } from '../../../src/model/openai/data-block.ts'
import type { TextEvent, TextModel, TextRequest } from '../../../src/model/port.ts'
import { muLaw } from '../../../src/phone/call/codec.ts'
import { parseServerEvent, type ServerEvent } from '../../../src/phone/call/realtime-protocol.ts'
import { sessionOpening } from '../../../src/phone/call/session-config.ts'
import type { CreateEars } from '../../../src/phone/spoken/ports.ts'
import { createSpokenSession, type SpokenSessionOptions } from '../../../src/phone/spoken/session.ts'

/** An answer that a test writes word by word. */
export type Writing = {
  readonly request: TextRequest
  readonly signal: AbortSignal
  write(text: string): void
  end(answer?: Partial<Extract<TextEvent, { type: 'completed' }>>): void
  fail(error: unknown): void
}

/** Everything that is ready has been done after this. */
export const settle = () => new Promise((resolve) => setImmediate(resolve))

export const delimit = createDataBlocks(Buffer.from('the key of a test'))

/** 100 ms of speech for ten characters. */
const SPEECH = Buffer.alloc(800, 0x55)

/** A session whose caller, text model and voice are moved by hand. */
export async function openSpoken(given: Partial<SpokenSessionOptions> = {}) {
  const answers: Writing[] = []
  const sentences: string[] = []
  const aborted: string[] = []
  const failures: unknown[] = []
  const events: ServerEvent[] = []
  let caller: Parameters<CreateEars>[0] | undefined
  let hold: Promise<unknown> = Promise.resolve()
  const text: TextModel = {
    id: { provider: 'test', model: 'test' },
    respond: (request, signal) => writeAnswer(answers, request, signal),
  }
  const connect = createSpokenSession({
    text: () => text,
    language: 'en',
    createEars(handlers) {
      caller = handlers
      return { hear: () => undefined, close: () => undefined }
    },
    mouth: {
      async *speak(sentence, signal) {
        sentences.push(sentence)
        signal.addEventListener('abort', () => aborted.push(sentence))
        for (let at = 0; at < sentence.length; at += 10) {
          await hold
          signal.throwIfAborted()
          yield SPEECH.toString('base64')
        }
      },
    },
    party: 'owner',
    delimit,
    toolOf: () => undefined,
    fit: async (request) => request,
    use: { purpose: 'call', channel: 'voice' },
    timezone: () => 'UTC',
    nowMs: () => 0,
    lengthMs: (piece) => Buffer.byteLength(piece, 'base64') / muLaw.bytesPerMs,
    recallMs: 0,
    failed: (error) => failures.push(error),
    ...given,
  })
  const opened = Promise.withResolvers<void>()
  const socket = connect({
    opened: opened.resolve,
    message(message) {
      const parsed = parseServerEvent(message)
      if (parsed.status === 'malformed') throw new Error(parsed.detail)
      if (parsed.status === 'event') events.push(parsed.event)
    },
    closed: () => undefined,
  })
  await opened.promise
  const send = (event: object) => socket.send(JSON.stringify(event))
  const plan = {
    instructions: 'You are the delegate.',
    tools: [],
    voice: 'marin',
    transcriptionModel: 'ears',
  }
  for (const event of sessionOpening({ ...plan, history: [] }, muLaw)) send(event)
  await settle()
  return {
    answers,
    sentences,
    aborted,
    failures,
    events,
    send,
    close: () => socket.close(),
    ofType: <T extends ServerEvent['type']>(type: T) =>
      events.filter((event): event is Extract<ServerEvent, { type: T }> => event.type === type),
    /** Lets no further piece of speech be made until it is released. */
    holdSpeech() {
      const released = Promise.withResolvers<void>()
      hold = released.promise
      return released.resolve
    },
    get caller() {
      if (!caller) throw new Error('the session made no ears')
      return caller
    },
    /** The caller says something. */
    async says(words: string | null) {
      this.caller.started()
      this.caller.stopped()
      this.caller.heard(words)
      await settle()
    },
  }
}

async function* writeAnswer(answers: Writing[], request: TextRequest, signal: AbortSignal) {
  const waiting: (TextEvent | Error)[] = []
  let next = Promise.withResolvers<void>()
  const push = (event: TextEvent | Error) => {
    waiting.push(event)
    next.resolve()
  }
  let text = ''
  const usage = { inputTokens: 7, outputTokens: 5, cachedTokens: 3 }
  answers.push({
    request,
    signal,
    write(more) {
      text += more
      push({ type: 'text.delta', text: more })
    },
    end: (answer) =>
      push({ type: 'completed', text, toolCalls: [], usage, responseId: null, blob: null, ...answer }),
    fail: (error) => push(error as Error),
  })
  signal.addEventListener('abort', () => push(new Error('aborted')))
  for (;;) {
    for (let event = waiting.shift(); event; event = waiting.shift()) {
      if (event instanceof Error) throw event
      yield event
      if (event.type === 'completed') return
    }
    next = Promise.withResolvers()
    await next.promise
  }
}
