import { onTestFinished } from 'vitest'
import * as z from 'zod'
import type { ModelApi } from '../../../src/model/openai/defaults.ts'
import { systemTiming, type Timing } from '../../../src/model/openai/timing.ts'
import type { ModelService, TextEvent, TextRequest, ToolSpec } from '../../../src/model/port.ts'
import { createModelHolder } from '../../../src/model/service.ts'
import {
  type ModelDouble,
  type ModelDoubleOptions,
  startModelDouble,
} from '../../doubles/model/model-double.ts'

export const API_KEY = 'sk-canary-0123456789abcdef'

/** The service and its models; null for what is not set. */
export type OpenAiSettings = {
  readonly apiKey: string | null
  readonly baseUrl: string
  readonly api: ModelApi
  readonly chatModel: string
  readonly utilityModel: string | null
  readonly embeddingModel: string | null
  readonly realtimeModel: string | null
  readonly transcriptionModel: string | null
  readonly speechModel: string | null
  readonly contextTokens?: number
}

type Dependencies = Parameters<typeof createModelHolder>[1]

export type Setup = {
  readonly double: ModelDouble
  readonly service: ModelService
  /** The backoffs requested so far, in ms; they take no time. */
  readonly waits: number[]
  /** A second service on the same double, as after a restart or a change of settings. */
  another(settings?: Partial<OpenAiSettings>, dependencies?: Dependencies): ModelService
}

/** A service on a double. Backoffs take no time and jitter is always at its maximum. */
export async function setUp(
  options: {
    readonly double?: ModelDoubleOptions
    readonly settings?: Partial<OpenAiSettings>
    readonly dependencies?: Dependencies
  } = {},
): Promise<Setup> {
  const double = await startModelDouble({ apiKey: API_KEY, ...options.double })
  onTestFinished(() => double.close())
  const waits: number[] = []
  const timing: Timing = {
    ...systemTiming,
    random: () => 1,
    sleep: async (ms) => void waits.push(ms),
  }
  const another: Setup['another'] = (settings = {}, dependencies = {}) => {
    const wanted: OpenAiSettings = {
      apiKey: API_KEY,
      baseUrl: double.url,
      api: 'auto',
      chatModel: 'test-model',
      utilityModel: null,
      embeddingModel: 'test-embedding',
      realtimeModel: 'test-realtime',
      transcriptionModel: 'test-transcription',
      speechModel: 'test-speech',
      ...settings,
    }
    return createModelHolder(
      {
        OPENAI_API_KEY: wanted.apiKey,
        OPENAI_BASE_URL: wanted.baseUrl,
        MODEL_API: wanted.api,
        CHAT_MODEL: wanted.chatModel,
        UTILITY_MODEL: wanted.utilityModel,
        EMBEDDING_MODEL: wanted.embeddingModel,
        REALTIME_MODEL: wanted.realtimeModel,
        TRANSCRIPTION_MODEL: wanted.transcriptionModel,
        SPEECH_MODEL: wanted.speechModel,
        CONTEXT_TOKENS: wanted.contextTokens?.toString(),
      },
      {
        timing,
        limits: { backoffMs: 100, maxBackoffMs: 1000 },
        ...dependencies,
      },
    ).current()
  }
  return { double, waits, another, service: another(options.settings, options.dependencies) }
}

export const noteTool: ToolSpec = {
  name: 'create_note',
  description: 'Writes a note.',
  parameters: z.object({ title: z.string().max(200).nullable(), content: z.string().min(1) }),
}

export function request(changes: Partial<TextRequest> = {}): TextRequest {
  return {
    instructions: 'You are a test.',
    input: [{ type: 'message', role: 'owner', text: 'Hello' }],
    tools: [],
    now: '2026-06-02T12:00:00.000Z',
    timezone: 'Europe/Berlin',
    ...changes,
  }
}

export const never = () => new AbortController().signal

export type Run = {
  readonly deltas: readonly string[]
  readonly completed: Extract<TextEvent, { type: 'completed' }> | null
  readonly error: unknown
}

/** Runs a turn until it completes or fails; `deltas` grows meanwhile. */
export async function run(
  service: ModelService,
  wanted = request(),
  signal = never(),
  deltas: string[] = [],
): Promise<Run> {
  let completed: Run['completed'] = null
  try {
    for await (const event of service.text.respond(wanted, signal)) {
      if (event.type === 'completed') completed = event
      else deltas.push(event.text)
    }
    return { deltas, completed, error: null }
  } catch (error) {
    return { deltas, completed, error }
  }
}

/** Timing in which no time passes until the test calls `expireIdle`. */
export function stoppedTime(idleMs: number): { timing: Timing; expireIdle: () => void } {
  const armed = new Set<() => void>()
  const timing: Timing = {
    ...systemTiming,
    random: () => 1,
    sleep: () => Promise.resolve(),
    after(ms, callback) {
      if (ms !== idleMs) return () => undefined
      armed.add(callback)
      return () => void armed.delete(callback)
    },
  }
  return {
    timing,
    expireIdle() {
      for (const callback of armed) callback()
    },
  }
}
