import pLimit from 'p-limit'
import { LedgerUnavailable } from '../../../ledger/errors.ts'
import type { Append, NewEvent } from '../../../ledger/event.ts'
import type { LedgerReader } from '../../../ledger/reader.ts'
import type { SpendingQueries } from '../../../projections/spending.ts'
import type { Log } from '../../lib/log.ts'
import type { Meter, Reservation } from '../../model/metered.ts'
import { AllowanceSpent, type ModelId, type Use } from '../../model/port.ts'
import { dearestPrice, knownPrice, type ModelPrice, type PriceTable } from '../../model/prices.ts'
import { type Allowance, noticePlace, refusalText, type WindowState } from './allowance.ts'

const FREE_OF_CHARGE: ModelPrice = { input: 0, output: 0 }

/** With the names that containers have for the machine that they run on. */
const LOOPBACK = /^(?:localhost|127\.[\d.]+|\[::1\]|host\.(?:docker|containers)\.internal)$/
/** Whether a host, which is also the name of a provider, is on this machine. */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host.replace(/:\d+$/, ''))

const FREE: Reservation = { settle: async () => undefined }

/**
 * Reserves what a request, a minute or a text may cost before it is spent, and records what it cost after it.
 * Reservations are made one after the other: each sees the one before, so together they never exceed the
 * allowance. One that a crash leaves unsettled stays spent.
 */
export function createMeter(options: {
  readonly append: Append
  readonly ledger: Pick<LedgerReader, 'rowByKey'>
  readonly spending: SpendingQueries
  readonly allowance: Allowance
  readonly prices: () => PriceTable
  /** Those of services on this machine. */
  readonly localPrices: () => PriceTable
  readonly newId: () => string
  readonly log: Pick<Log, 'warn'>
}): Meter {
  const { append, spending, allowance, prices, localPrices, newId, log } = options
  const serially = pLimit(1)

  /** Asks the owner for a price, once for each model. */
  function askPrice(use: Use, model: ModelId | null): NewEvent[] {
    if (model === null || knownPrice(prices(), model.model) !== null) return []
    const key = `price-missing:${model.provider}/${model.model}`
    if (options.ledger.rowByKey(key) !== undefined) return []
    return [
      { type: 'price.missing', actor: 'service', ...noticePlace(use), key, facts: { model: { ...model } } },
    ]
  }

  async function reserve(use: Use, model: ModelId | null, micros: number): Promise<Reservation> {
    if (micros === 0) return FREE
    const { purpose, ...place } = use
    const refusal = allowance.refuse(purpose, micros)
    if (refusal !== null) return refuse(use, refusal, micros)
    const reservationId = newId()
    const envelope = { actor: 'service', channel: 'system', ...place } as const
    await append([
      ...askPrice(use, model),
      {
        type: 'spend.reserved',
        ...envelope,
        facts: { reservationId, purpose, model: model && { ...model }, amountMicros: micros },
      },
    ])
    // Without the view, the next reservation would not see this one.
    if (!spending.isOpen(reservationId))
      throw new LedgerUnavailable('the view of spending is behind, so nothing can be spent')
    return {
      settle: (amountMicros) => serially(() => settle(amountMicros)).catch(unsettled),
    }

    async function settle(amountMicros: number): Promise<void> {
      if (amountMicros > micros)
        log.warn(
          { purpose, model: model?.model, amountMicros, reservedMicros: micros },
          'cost more than reserved',
        )
      await append([{ type: 'spend.settled', ...envelope, facts: { reservationId, amountMicros } }])
      await announce(use)
    }
  }

  async function refuse(use: Use, state: WindowState, micros: number): Promise<never> {
    // Background work stops earlier, without a notice of its own: there was one at 80 %.
    const facts = allowance.isBackground(use.purpose) ? [] : allowance.usedUp(state, use)
    if (facts.length > 0) await append(facts)
    throw new AllowanceSpent(refusalText(state, micros))
  }

  function unsettled(error: unknown): void {
    log.warn({ err: error }, 'a cost could not be recorded, so its reservation stays spent')
  }

  async function announce(use: Use): Promise<void> {
    const facts = allowance.news(use)
    if (facts.length > 0) await append(facts)
  }

  return {
    priceOf: ({ provider, model }) =>
      isLoopback(provider)
        ? (knownPrice(localPrices(), model) ?? FREE_OF_CHARGE)
        : (knownPrice(prices(), model) ?? dearestPrice(prices())),
    reserve: (use, model, micros) => serially(() => reserve(use, model, micros)),
  }
}
