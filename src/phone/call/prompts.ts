import type { CallOptions } from './call-state.ts'

/** Instructions for responses that the delegate begins. Persona and context come with the session. */
export const callPrompts: Pick<CallOptions, 'greeting' | 'resume' | 'checkIn'> = {
  greeting:
    'The call has just been connected. Greet the caller in one short sentence, as somebody who knows where you ' +
    'left off, and let them speak.',
  resume:
    'The line to you broke for a moment and the caller was told so. Say in one short sentence that you are back. ' +
    'Go on where the conversation stopped; if the caller was asking something, ask them to repeat it.',
  checkIn:
    'Nobody has spoken for a while. Ask briefly whether the caller is still there. Do not repeat yourself.',
}
