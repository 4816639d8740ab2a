import { english } from '../../language/message.ts'
import type { CallOptions, PhraseName } from './call-state.ts'

/** Instructions for responses that the delegate begins. Those of the session come before them. */
export const callPrompts: Pick<CallOptions, 'greeting' | 'resume' | 'checkIn'> = {
  greeting:
    'The call has just been connected. Greet the caller in one short sentence and let them speak. If you have talked ' +
    'before, greet them as somebody who knows where you left off.',
  resume:
    'The line to you broke for a moment and the caller was told so. Say in one short sentence that you are back. ' +
    'Go on where the conversation stopped; if the caller was asking something, ask them to repeat it.',
  checkIn:
    'Nobody has spoken for a while. Ask briefly whether the caller is still there. Do not repeat yourself.',
}

/** What the call says by itself. `phrases/` has recordings of it. */
export const phraseTexts: Readonly<Record<PhraseName, string>> = {
  reconnecting: english`Sorry, I lost my thread. One moment, please.`,
  trouble: english`Sorry, I could not answer that. Please try once more.`,
  time_up: english`Our time is up. Goodbye.`,
  allowance: english`The allowance is used up, so I have to stop. Goodbye.`,
  halted: english`This assistant is halted now. Goodbye.`,
}
