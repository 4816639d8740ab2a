import type { Answerer, ModelDouble, RecordedRequest } from '../../doubles/model/model-double.ts'
import { isMemoryRequest } from '../../doubles/model/model-double.ts'
import type { Reply } from '../../doubles/model/script.ts'

/** Something that the model finds worth remembering in the owner's words. */
export type Worth = {
  readonly quote: string
  readonly kind: 'identity' | 'preference' | 'relation' | 'plan' | 'procedure' | 'episode'
  readonly slot: string
  readonly value: string
  readonly text: string
  readonly singleValued?: boolean
  readonly validUntil?: string
  /** How it stands to a memory that is offered by its text. */
  readonly relation?: readonly [text: string, relation: 'same' | 'refine' | 'conflict' | 'independent']
}

/** The model of the recorded life: answers come from queues, one for each thing that it is asked. */
export type LifeModel = {
  /** What it says in the next turns. */
  readonly turns: Reply[]
  /** What it says when something wakes it; silent by default. */
  readonly wakings: Reply[]
  /** How the next capsules turn out. */
  readonly capsules: Reply[]
  /** How the next readings of what was said turn out, in place of what is worth remembering. */
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
  if (!isMemoryRequest(request)) throw new Error('this asks nothing of memory')
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

/** The id under which a memory of this text is offered to the model, however often its JSON is quoted. */
function offeredId(shown: string, text: string): string | undefined {
  const plain = shown.replaceAll('\\', '')
  const at = plain.indexOf(`","text":"${text}","since"`)
  return at < 0 ? undefined : /"id":"([^"]+)$/.exec(plain.slice(0, at))?.[1]
}
