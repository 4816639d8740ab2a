import { expect, test } from 'vitest'
import type { ModelService } from '../../src/model/port.ts'
import { type CarriageChoice, carriageOf } from '../../src/phone/carriage.ts'

const realtime = {} as ModelService['realtime']
const id = { provider: 'test', model: 'test' }
const speech = { ids: { transcription: id, speech: id } } as ModelService['speech']

test.each<[CarriageChoice['wanted'], boolean, boolean, boolean, string]>([
  ['auto', true, true, true, 'realtime'],
  ['auto', false, true, true, 'speech'],
  ['auto', false, false, true, 'nothing'],
  ['relay', true, true, true, 'relay'],
  ['relay', true, true, false, 'nothing'],
])(
  'wants %s: a realtime model %s, speech %s, an account %s: by %s',
  (wanted, isRealtime, isSpeech, hasAccount, by) => {
    const model = { realtime: isRealtime ? realtime : null, speech: isSpeech ? speech : null }
    expect(carriageOf(model, { wanted, hasAccount }).by).toBe(by)
  },
)
