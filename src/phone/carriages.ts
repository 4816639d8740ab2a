import type { ModelId, ModelService, Usage, Use } from '../model/port.ts'
import type { Settings } from '../settings/settings.ts'
import type { AudioTokens } from './call/call-state.ts'
import type { CallLine } from './call/ports.ts'
import { answeringModel, type Carriage, carriageOf } from './carriage.ts'
import { isTalk, type OfferedCall } from './line/call-slot.ts'

/** The models that a call is paid by. */
export type CallModels = {
  readonly realtime: ModelId | null
  readonly transcription: ModelId
  /** The telephony provider hears and speaks. */
  readonly isRelayed?: boolean
  /** There is no line to pay. */
  readonly isInBrowser?: boolean
}

/** What a call needs of the money that it costs. */
export type CallMoney = {
  isSpent(purpose: 'call' | 'guest', models: CallModels): boolean
  start(
    use: Use,
    models: CallModels,
    spent: () => void,
  ): { responded(usage: Usage, audio: AudioTokens): void; end(): void }
}

/** How calls are carried by the present models and settings, and what that costs. */
export function createCarriages(options: {
  readonly model: () => ModelService
  readonly settings: Pick<Settings, 'get'>
  readonly hasAccount: () => boolean
}) {
  const { model, settings } = options
  const wanted = (how: 'auto' | 'relay') =>
    carriageOf(model(), { wanted: how, hasAccount: options.hasAccount() })
  const ofPhone = () => wanted(settings.get('PHONE_CARRIAGE'))
  /** No provider hears what is said in a browser. */
  const ofBrowser = () => wanted('auto')

  return {
    ofPhone,
    ofBrowser,
    /** A media stream carries no relay, so the call is not carried at all then: anything else was not wanted. */
    on(call: OfferedCall, { medium }: Pick<CallLine, 'medium'>): Carriage {
      if (isTalk(call)) return ofBrowser()
      if (!medium.isAudio) return wanted('relay')
      const carriage = ofPhone()
      return carriage.by === 'relay' ? { by: 'nothing' } : carriage
    },
    modelsOf(
      call: Pick<OfferedCall, 'attestation'>,
      carriage: Carriage = isTalk(call) ? ofBrowser() : ofPhone(),
    ): CallModels {
      const { realtime } = model()
      const provider = realtime?.provider ?? 'none'
      const transcription = {
        provider,
        model: realtime?.transcription ?? settings.get('TRANSCRIPTION_MODEL'),
      }
      return {
        realtime: carriage.by === 'realtime' ? answeringModel(model(), carriage) : null,
        transcription,
        isRelayed: carriage.by === 'relay',
        isInBrowser: isTalk(call),
      }
    },
  }
}
