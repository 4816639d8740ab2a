import * as z from 'zod'
import { english } from '../language/message.ts'
import { localeNow, msg } from '../language/msg.ts'
import { openAiDefaults } from './openai/defaults.ts'
import type { Usage } from './port.ts'

const dollars = z.number().min(0).max(10_000)

const BOTH = english`must have both an input and an output price for each model: 0 if it is free`

/** US dollars for a million tokens or for a minute. Only a model that is paid by the minute may have no token prices. */
const modelPriceSchema = z
  .strictObject({
    input: dollars.optional(),
    /** Input that the service had cached; like `input` if absent. */
    cachedInput: dollars.optional(),
    output: dollars.optional(),
    audioInput: dollars.optional(),
    audioOutput: dollars.optional(),
    /** A minute of audio. For a realtime model: what a minute may cost at most, before its tokens are known. */
    minute: dollars.optional(),
  })
  .refine(
    ({ input, output, minute }) =>
      (input === undefined) === (output === undefined) && (input ?? minute) !== undefined,
    BOTH,
  )
  .transform(({ input = 0, output = 0, ...price }) => ({ input, output, ...price }))
export type ModelPrice = z.output<typeof modelPriceSchema>

const changesSchema = z.strictObject({
  models: z
    .record(z.string().min(1).max(200), modelPriceSchema)
    .refine((models) => Object.keys(models).length <= 200)
    .default({}),
  callMinute: dollars.optional(),
  relayMinute: dollars.optional(),
  textSegment: dollars.optional(),
})

/**
 * Prices in US dollars: those of models by name, of a minute on the phone, of what its relay adds to it, and of a segment
 * of a text.
 */
export type PriceTable = {
  readonly models: Readonly<Record<string, ModelPrice>>
  readonly callMinute: number
  readonly relayMinute: number
  readonly textSegment: number
}

/** Estimates of list prices in the US. The owner sets what their providers charge. */
export const defaultPrices: PriceTable = {
  models: {
    [openAiDefaults.chatModel]: { input: 5, cachedInput: 0.5, output: 30 },
    [openAiDefaults.utilityModel]: { input: 0.75, cachedInput: 0.075, output: 4.5 },
    [openAiDefaults.embeddingModel]: { input: 0.02, output: 0 },
    [openAiDefaults.realtimeModel]: {
      input: 4,
      cachedInput: 0.4,
      output: 24,
      audioInput: 32,
      audioOutput: 64,
      minute: 0.4,
    },
    [openAiDefaults.transcriptionModel]: { input: 0, output: 0, minute: 0.006 },
    [openAiDefaults.speechModel]: { input: 0, output: 0, minute: 0.015 },
  },
  callMinute: 0.02,
  relayMinute: 0.07,
  textSegment: 0.012,
}

/** The setting PRICES: JSON with the prices that differ from the defaults. */
export const pricesSchema = z
  .string()
  .trim()
  .max(50_000)
  .transform((text, context) => {
    try {
      return JSON.stringify(changesSchema.parse(JSON.parse(text)))
    } catch (error) {
      context.addIssue(reasonOf(error))
      return z.NEVER
    }
  })

function reasonOf(error: unknown): string {
  if (!(error instanceof z.ZodError))
    return msg`must be JSON like {"models":{"my-model":{"input":1.5,"output":6}},"callMinute":0.02,"textSegment":0.01}`
  if (error.issues.some(({ message }) => message === BOTH)) return BOTH
  return msg`must have prices from 0 to 10,000 US dollars`
}

const FREE: ModelPrice = { input: 0, output: 0 }

/**
 * The defaults with the owner's prices in their place. `changes` is a value of the setting, or null. The `free`
 * models cost nothing unless the owner says otherwise.
 */
export function priceTable(changes: string | null, free: readonly string[] = []): PriceTable {
  const { models, callMinute, relayMinute, textSegment } = changesSchema.parse(JSON.parse(changes ?? '{}'))
  return {
    models: { ...defaultPrices.models, ...Object.fromEntries(free.map((name) => [name, FREE])), ...models },
    callMinute: callMinute ?? defaultPrices.callMinute,
    relayMinute: relayMinute ?? defaultPrices.relayMinute,
    textSegment: textSegment ?? defaultPrices.textSegment,
  }
}

const DATED = /-\d{4}-\d{2}-\d{2}$/

/** The price of a model, also by its name without a date; null if the table lacks it. */
export function knownPrice({ models }: PriceTable, name: string): ModelPrice | null {
  const undated = name.replace(DATED, '')
  if (Object.hasOwn(models, name)) return models[name] ?? null
  return Object.hasOwn(models, undated) ? (models[undated] ?? null) : null
}

/** The highest price of each kind: what an unknown model is assumed to cost. */
export function dearestPrice({ models }: PriceTable): ModelPrice {
  const all = [...Object.values(defaultPrices.models), ...Object.values(models)]
  const highest = (of: (price: ModelPrice) => number | undefined) =>
    all.reduce((most, price) => Math.max(most, of(price) ?? 0), 0)
  return {
    input: highest(({ input }) => input),
    output: highest(({ output }) => output),
    audioInput: highest(({ audioInput }) => audioInput),
    audioOutput: highest(({ audioOutput }) => audioOutput),
    minute: highest(({ minute }) => minute),
  }
}

/** The tokens of `usage` that are audio, for realtime models. */
export type AudioTokens = {
  readonly input: number
  readonly cachedInput: number
  readonly output: number
}

const NO_AUDIO: AudioTokens = { input: 0, cachedInput: 0, output: 0 }

/** Millionths of a dollar, rounded up: a price for a million tokens is the same number for one token in millionths. */
export function microsOf(price: ModelPrice, usage: Usage, audio: AudioTokens = NO_AUDIO): number {
  const { input, cachedInput = input, output, audioInput = input, audioOutput = output } = price
  const cached = Math.min(usage.cachedTokens, usage.inputTokens)
  const freshAudio = Math.max(0, audio.input - audio.cachedInput)
  const freshText = Math.max(0, usage.inputTokens - cached - freshAudio)
  const textOut = Math.max(0, usage.outputTokens - audio.output)
  return Math.ceil(
    cached * cachedInput +
      freshText * input +
      freshAudio * audioInput +
      textOut * output +
      audio.output * audioOutput,
  )
}

/** Dollars as millionths, rounded up. */
export const toMicros = (amount: number): number => Math.ceil(amount * 1_000_000 - 1e-6)

/** "$5.00"; small amounts keep two significant digits: "$0.0031". */
export function dollarsText(micros: number): string {
  const amount = micros / 1_000_000
  const digits = micros === 0 || amount >= 0.1 ? 2 : Math.min(6, 1 - Math.floor(Math.log10(amount)))
  return amount.toLocaleString(localeNow(), {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
}
