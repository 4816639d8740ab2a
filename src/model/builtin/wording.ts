import { english } from '../../language/message.ts'

/** Replies that several intents share. They name pages, never variables. Three are translated: the owner may not read English. */
export const NEEDS_MODEL = english`That needs a language model: [connect one](/settings#model).`
/** Used instead if the owner has just read the other one. */
export const NEEDS_MODEL_AGAIN = 'I can’t do that one either. Ask me what I can do.'

export const HELP = `Here is what I can do:

- **Remember**: “Remember that my sister is called Ada”, “What do you know about me?”, “Forget my address”
- **Remind**: “Remind me tomorrow at 9 to call Anna”, “Wake me at 7”, “Set a timer for 10 minutes”, “Snooze that for an hour”
- **Lists and notes**: “Add milk and eggs to my shopping list”, “Note: the boiler is loud”, “Show my notes”
- **Look back**: “When did I mention the dentist?”, “What did we talk about yesterday?”
- **Dates and sums**: “How many days until Christmas?”, “What is 17% of 80?”

For real conversation, [connect a language model](/settings#model).`

export const GUEST =
  'Hello. I am an automated assistant, and I have recorded your message for my owner. I can’t do more for you here.'

export const CANNOT_OPEN = 'I can’t open pictures or other attachments. Please tell me in words.'

/** When nobody has spoken in a call. */
export const LISTENING = 'This is your assistant. I am listening.'
export const LISTENING_TO_GUEST = 'This is an automated assistant. You can leave a message for my owner.'

export const NOTHING_FOUND = 'I found nothing about that.'
/** To a question that may not be about what the owner said. */
export const NOTHING_KNOWN = `${NOTHING_FOUND} To know more than what you told me, [connect a language model](/settings#model).`
export const HAD_FORGOTTEN = 'You asked me to forget that.'
export const ALL_RIGHT = 'All right.'
export const WILL_REMIND = 'I’ll remind you'
/** Introduces the first time that a repeating reminder is due. */
export const FIRST_DUE = ', first'
export const ASK_WHEN = 'When?'
export const WHICH_ONE = 'Which one do you mean?'
export const NOT_KEPT = english`I won’t keep that.`
export const CLOSEST = 'This is the closest that I find:'
export const CONFIRM = 'Nothing is done yet. Please confirm it on your [timeline](/).'
export const CONFIRM_THERE = 'A “yes” here is not enough: please confirm it on your [timeline](/).'
export const SURE = 'would be gone for good. Say “yes” to cancel them.'
export const CHOOSE = 'Nothing is forgotten yet. Name it, or choose on your [timeline](/).'
export const ERASE =
  'You can erase a message, a conversation or a period on the [timeline](/), and a single fact under [Memory](/memories). Here I forget one thing at a time: “Forget my address”.'
export const NOT_UNDERSTOOD = english`That is on your timeline, but I understood no request in it. Ask “What can you do?” in plain English.`
