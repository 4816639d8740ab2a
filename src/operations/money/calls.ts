import type { Meter, Reservation } from '../../model/metered.ts'
import { AllowanceSpent, type ModelId, type Usage, type Use } from '../../model/port.ts'
import { type AudioTokens, microsOf, type PriceTable, toMicros } from '../../model/prices.ts'
import type { Allowance } from './allowance.ts'

const MINUTE_MS = 60_000
/** The next minute is reserved this long before it begins, so that a farewell fits into the one that is paid. */
const AHEAD_MS = 10_000

/** Who talks in a call, and which models listen and speak; null without a realtime model. */
export type CallModels = {
  readonly realtime: ModelId | null
  readonly transcription: ModelId
  /** The telephony provider hears and speaks. The text model is paid by its requests. */
  readonly isRelayed?: boolean
  /** There is no line to pay. */
  readonly isInBrowser?: boolean
}

/** The money of one call. */
export type CallMoney = {
  /** Takes what a response of the realtime model used. */
  responded(usage: Usage, audio: AudioTokens): void
  /** The call is over: settles its last minute. */
  end(): void
}

/** Pays calls minute by minute, as they go. */
export function createCallMeter(options: {
  readonly meter: Meter
  readonly allowance: Allowance
  readonly prices: () => PriceTable
  readonly onFault: (error: unknown) => void
}) {
  const { meter, allowance, prices, onFault } = options

  /** The most that a minute may cost: on the line, for the model, and to transcribe the caller. */
  function mostMicros(models: CallModels): number {
    const { realtime } = models
    const model = realtime === null ? 0 : (meter.priceOf(realtime).minute ?? 0)
    return lineMicros(models) + toMicros(model)
  }

  /** What a minute costs without the realtime model. */
  function lineMicros({ realtime, transcription, isRelayed, isInBrowser }: CallModels): number {
    const heard = realtime === null ? 0 : (meter.priceOf(transcription).minute ?? 0)
    const relayed = isRelayed ? prices().relayMinute : 0
    return toMicros((isInBrowser ? 0 : prices().callMinute) + relayed + heard)
  }

  return {
    /** Whether not even one minute is affordable. */
    isSpent: (purpose: Use['purpose'], models: CallModels) => allowance.isSpent(purpose, mostMicros(models)),
    /** Pays a call from now on. Calls `spent` once, when the next minute is not affordable. */
    start(use: Use, models: CallModels, spent: () => void): CallMoney {
      const price = models.realtime && meter.priceOf(models.realtime)
      /** What the model used since the current minute was reserved, and the most in any minute. */
      let usedMicros = 0
      let mostUsedMicros = 0
      let current: Reservation | null = null
      let minutes = 0
      let timer: NodeJS.Timeout | undefined
      let isOver = false

      async function settle(): Promise<void> {
        const paid = current
        if (paid === null) return
        current = null
        const micros = lineMicros(models) + usedMicros
        mostUsedMicros = Math.max(mostUsedMicros, usedMicros)
        usedMicros = 0
        await paid.settle(micros)
      }

      async function next(): Promise<void> {
        const micros = Math.max(mostMicros(models), lineMicros(models) + Math.max(mostUsedMicros, usedMicros))
        try {
          const reserved = await meter.reserve(use, models.realtime, micros)
          await settle()
          // It ended while a further minute was being reserved.
          if (isOver && minutes > 0) return await reserved.settle(0)
          minutes += 1
          current = reserved
          if (isOver) await settle()
        } catch (error) {
          clearInterval(timer)
          // Nothing is spent that could not be recorded, so the call ends in both cases.
          if (!(error instanceof AllowanceSpent)) onFault(error)
          if (!isOver) spent()
        }
      }

      const pay = () => void next().catch(onFault)
      pay()
      timer = setTimeout(() => {
        pay()
        timer = setInterval(pay, MINUTE_MS).unref()
      }, MINUTE_MS - AHEAD_MS).unref()
      return {
        responded(usage, audio) {
          if (price) usedMicros += microsOf(price, usage, audio)
        },
        end() {
          isOver = true
          clearTimeout(timer)
          settle().catch(onFault)
        },
      }
    },
  }
}
