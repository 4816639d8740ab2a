import type { Answerer, ModelDouble, RecordedRequest } from '../../doubles/model/model-double.ts'
import { isMemoryRequest } from '../../doubles/model/model-double.ts'
import type { Reply } from '../../doubles/model/script.ts'

/** Something in the owner's words that the model considers worth remembering. */
export type Worth = {
  readonly quote: string
  readonly kind: 'identity' | 'preference' | 'relation' | 'plan' | 'procedure' | 'episode'
  readonly slot: string
  readonly value: string
  readonly text: string
  readonly singleValued?: boolean
  readonly validUntil?: string
  /** Its relation to an existing memory, identified by text. */
  readonly relation?: readonly [text: string, relation: 'same' | 'refine' | 'conflict' | 'independent']
}

/** The scripted model: answers come from queues, one per kind of request. */
export type LifeModel = {
  /** Answers in the next turns. */
  readonly turns: Reply[]
  /** Answers when a signal wakes it; silent by default. */
  readonly wakings: Reply[]
  /** Answers to the next capsule requests. */
  readonly capsules: Reply[]
  /** Answers to the next extractions, instead of `worth`. */
  readonly readings: Reply[]
  readonly worth: Worth[]
}

const CAPSULE = '## Established facts\nThe owner lives in Porto.\n## Where we are\nThey talk about a trip.'

export function directModel(double: ModelDouble): LifeModel {
  const life: LifeModel = { turns: [], wakings: [], capsules: [], readings: [], worth: [] }
  const answer: Answerer = (request) => {
    const { instructions } = request.body
    if (/Nobody has spoken/.test(String(instructions))) return life.wakings.shift() ?? { text: '[silent]' }
    if (/^Write the capsule/.test(String(instructions))) return life.capsules.shift() ?? { text: CAPSULE }
    return life.turns.shift() ?? { text: 'All right.' }
  }
  double.answerWith(answer)
  double.answerMemoryWith((request) => life.readings.shift() ?? remember(request, life.worth))
  return life
}

function remember(request: RecordedRequest, worth: readonly Worth[]): Reply {
  if (!isMemoryRequest(request)) throw new Error('this is not a memory request')
  const { text } = request
  const candidates = worth
    .filter(({ quote }) => text.includes(quote))
    .map(({ relation, singleValued = false, validUntil = null, ...claim }) => {
      const memoryId = relation && offeredId(text, relation[0])
      return {
        ...claim,
        ...{ subject: 'owner', singleValued, eventTime: null, validUntil },
        relations: relation && memoryId ? [{ memoryId, relation: relation[1] }] : [],
      }
    })
  return { text: JSON.stringify({ candidates }) }
}

/** The id under which a memory of this text is offered to the model, however its JSON is escaped. */
function offeredId(shown: string, text: string): string | undefined {
  const plain = shown.replaceAll('\\', '')
  const at = plain.indexOf(`","text":"${text}","since"`)
  return at < 0 ? undefined : /"id":"([^"]+)$/.exec(plain.slice(0, at))?.[1]
}
