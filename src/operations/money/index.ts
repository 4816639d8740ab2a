import { createSpendingQueries } from '../../../projections/spending.ts'
import type { Log } from '../../lib/log.ts'
import { type ModelPlan, planOf } from '../../model/plan.ts'
import { AllowanceSpent, type ModelId, type Usage, type Use } from '../../model/port.ts'
import { defaultPrices, microsOf, priceTable, toMicros } from '../../model/prices.ts'
import { BUILTIN } from '../../model/words.ts'
import { chosenSettings } from '../../settings/index.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Storage } from '../../storage/storage.ts'
import { createAllowance } from './allowance.ts'
import { createCallMeter } from './calls.ts'
import { createMeter, isLoopback } from './meter.ts'
import { createSpendingReport } from './report.ts'

export type Money = ReturnType<typeof buildMoney>

/** Wires money: the price table, the allowance, the meter and the report. */
export function buildMoney(options: {
  readonly storage: Pick<Storage, 'append' | 'views' | 'ledger'>
  readonly settings: Pick<Settings, 'get' | 'entries'>
  readonly newId: () => string
  readonly nowMs: () => number
  readonly log: Pick<Log, 'warn'>
  /** A minute of a call could not be recorded. */
  readonly onFault: (error: unknown) => void
}) {
  const { storage, settings, nowMs } = options
  const { append } = storage
  const spending = createSpendingQueries(storage.views)
  const plan = () => planOf(chosenSettings(settings))
  const prices = () => priceTable(settings.get('PRICES'))
  /** A service on this machine is taken to cost nothing, unless the owner sets its price. */
  const localPrices = () => priceTable(settings.get('PRICES'), Object.keys(defaultPrices.models))
  const allowance = createAllowance({ ...options, ledger: storage.ledger, spending })
  const meter = createMeter({ ...options, ...storage, spending, allowance, prices, localPrices })

  return {
    meter,
    isSpent: allowance.isSpent,
    /** What was spent and may be spent in each window. */
    windows: allowance.state,
    calls: createCallMeter({ meter, allowance, prices, onFault: options.onFault }),
    /** Reserves a text; null if it is not affordable. */
    async reserveText(use: Omit<Use, 'purpose'>, segments: number): Promise<ReservedText | null> {
      const micros = toMicros(prices().textSegment * segments)
      try {
        const reservation = await meter.reserve({ purpose: 'text', ...use }, null, micros)
        return { settle: (isSent) => reservation.settle(isSent ? micros : 0) }
      } catch (error) {
        if (error instanceof AllowanceSpent) return null
        throw error
      }
    },
    /** What a turn on a model cost; null if that was not recorded. */
    costOf(turnId: string, model: ModelId | null): number | null {
      const isFree =
        model?.provider === 'builtin' || (model && microsOf(meter.priceOf(model), A_TOKEN_OF_EACH) === 0)
      return spending.ofTurn(turnId) ?? (isFree ? 0 : null)
    },
    /** What a request of a model would cost, in millionths of a dollar. */
    estimate: (model: ModelId, usage: Usage): number =>
      model.provider === BUILTIN ? 0 : microsOf(meter.priceOf(model), usage),
    /** Allows more for the next 24 hours: another daily allowance, unless an amount is given. */
    async raise(amountMicros = toMicros(settings.get('ALLOWANCE_DAY'))): Promise<void> {
      await append([{ type: 'allowance.raised', actor: 'owner', channel: 'system', facts: { amountMicros } }])
    },
    report: createSpendingReport({
      spending,
      allowance,
      prices: () => priceTable(settings.get('PRICES'), localModels(plan())),
      modelsInUse: () => modelsOf(plan(), (service) => service !== BUILTIN),
      timezone: () => settings.get('TIMEZONE'),
      nowMs,
    }),
  }
}

/** A text that is paid unless it certainly was not sent. */
export type ReservedText = { settle(isSent: boolean): Promise<void> }

/** The models in use on this machine. */
function localModels(plan: ModelPlan): string[] {
  return modelsOf(plan, (service) =>
    plan.services.some(({ id, baseUrl }) => id === service && isLoopback(new URL(baseUrl).host)),
  )
}

/** The models in use of these services. */
function modelsOf({ uses, fallback }: ModelPlan, isWanted: (service: string) => boolean): string[] {
  return [...Object.values(uses), ...fallback].flatMap(({ service, model }) =>
    model !== null && isWanted(service) ? [model] : [],
  )
}

const A_TOKEN_OF_EACH = { inputTokens: 1, outputTokens: 1, cachedTokens: 0 }
