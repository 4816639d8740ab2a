import type { World } from '../intent.ts'
import { asksFor, isForeign, isStatement } from '../text.ts'
import { FOREIGN, NEEDS_MODEL, NEEDS_MODEL_AGAIN, NOT_UNDERSTOOD } from '../wording.ts'

/** Says that a request needs a language model, but not twice in a row. */
export function needsModel({ conversation: { past } }: World): string {
  return past[0]?.reply.includes(NEEDS_MODEL) ? NEEDS_MODEL_AGAIN : NEEDS_MODEL
}

/** Answers what is no request that any intent knows. */
export function fallback(text: string, world: World): string {
  if (!/[\p{L}\p{N}]/u.test(text)) return /\p{Extended_Pictographic}/u.test(text) ? '🙂' : 'I’m listening.'
  if (isForeign(text)) return world.conversation.past[0]?.reply === FOREIGN ? NOT_UNDERSTOOD : FOREIGN
  if (isStatement(text)) return 'Noted.'
  return asksFor(text) ? needsModel(world) : NOT_UNDERSTOOD
}
