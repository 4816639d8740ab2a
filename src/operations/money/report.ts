import type { SpendingQueries } from '../../../projections/spending.ts'
import { DAY_MS, dayIn } from '../../lib/time.ts'
import { defaultPrices, knownPrice, type PriceTable } from '../../model/prices.ts'
import type { Allowance } from './allowance.ts'

/** The report of `GET /api/spending`: money by day of the owner, channel and purpose, and the prices in force. */
export function createSpendingReport(options: {
  readonly spending: SpendingQueries
  readonly allowance: Allowance
  readonly prices: () => PriceTable
  /** The names of the models that the plan uses. */
  readonly modelsInUse: () => readonly string[]
  readonly timezone: () => string
  readonly nowMs: () => number
}) {
  const { spending, allowance, nowMs } = options

  return (days: number) => {
    const timezone = options.timezone()
    const dates = Array.from({ length: days }, (_, index) =>
      dayIn(timezone, nowMs() - (days - 1 - index) * DAY_MS),
    )
    const byDay = new Map(dates.map((date) => [date, 0]))
    const byPurpose = new Map<string, number>()
    const byChannel = new Map<string, number>()
    const add = (sums: Map<string, number>, key: string, micros: number) =>
      sums.set(key, (sums.get(key) ?? 0) + micros)
    for (const { hour, purpose, channel, micros } of spending.hoursFrom(
      new Date(nowMs() - days * DAY_MS).toISOString(),
    )) {
      const date = dayIn(timezone, Date.parse(`${hour}:00:00.000Z`))
      if (!byDay.has(date)) continue
      add(byDay, date, micros)
      add(byPurpose, purpose, micros)
      add(byChannel, channel, micros)
    }
    const list = (sums: Map<string, number>) =>
      [...sums].map(([name, micros]) => ({ name, micros })).toSorted((a, b) => b.micros - a.micros)
    const table = options.prices()
    const inUse = [...new Set(options.modelsInUse())]
    return {
      windows: allowance.state().map((state) => ({ ...state })),
      reservedMicros: spending.reserved(),
      days: [...byDay].map(([date, micros]) => ({ date, micros })),
      purposes: list(byPurpose),
      channels: list(byChannel),
      prices: {
        models: [...new Set([...inUse, ...Object.keys(table.models)])].map((model) => ({
          model,
          inUse: inUse.includes(model),
          listed: knownPrice(defaultPrices, model),
          price: knownPrice(table, model),
        })),
        callMinute: table.callMinute,
        relayMinute: table.relayMinute,
        textSegment: table.textSegment,
      },
    }
  }
}
