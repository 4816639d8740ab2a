import { type Intent, on } from '../intent.ts'
import { ALL_RIGHT, CONFIRM_THERE, ERASE, HELP } from '../wording.ts'

const CONNECT =
  'Open [Settings → Model services](/settings#model), add a service by its name, and choose its model for the chat. From then on the language model answers.'
const PRIVACY =
  'What you tell me stays on the machine I run on, behind your password, and I answer without any network. If you connect a language model, our conversation is sent to it. You can erase anything on the [timeline](/).'
const COPIES =
  'You can download and import everything under [Settings → Your data](/data), which also shows the last backup.'
const ABOUT_ME =
  'I’m Delegate, your assistant. I answer by simple rules so far, not with a language model: you can [connect one](/settings#model).'

const SMALL_TALK: Readonly<Record<string, string>> = {
  '(?:hi+|hello+|hey+|hiya|howdy|yo|hallo|greetings|morning|evening|good (?:morning|afternoon|evening|day))(?:,? (?:there|delegate|again|everyone|you|mate|buddy|dear|love))*':
    'Hello! What can I do for you?',
  "(?:how are (?:you|things)|how do you do|how'?s it going|how is it going|what'?s up|sup|nice to meet you)(?: (?:doing|going|today|delegate))*":
    'I’m well, thank you. What can I do for you?',
  "(?:(?:many|ok|okay|great|perfect|no|cool|awesome|lovely),? )?(?:thanks?(?: you)?|thx|ty|cheers|much appreciated)(?:,? (?:a lot|a million|very much|so much|again|delegate|for that|for (?:your|the) help|for everything|anyway|that(?:'s| is| was| will be) (?:all|it)|bye|for now))*(?:,? you(?:'re| are) .{1,40})?":
    'You’re welcome.',
  "(?:good ?night|night night|sleep well|sweet dreams)(?: delegate| everyone)?|(?:i'?m )?(?:off|going) to bed(?: now)?":
    'Good night, sleep well.',
  '(?:good ?)?bye(?: bye| for now)?|(?:see|talk to) (?:you|ya)(?: later| soon| tomorrow)?|later|ciao|have a (?:nice|good|great) (?:day|evening|weekend|one)|take care':
    'Goodbye, talk to you soon.',
  "(?:never ?mind(?: (?:that|it))?|nothing|cancel|stop|forget about it|ok|okay|k|fine|great|good|nice|cool|perfect|all ?right|got it|i see|yes(?: please)?|yeah|yep|no|nope|sure|right|wow|lol|(?:ha)+|hm+|interesting|awesome|amazing|wonderful|brilliant|excellent|super|understood|that(?:'s| is| was) (?:all|it|fine|right|correct|funny))(?:[ ,]+(?:good|great|nice|then|ok|cool|thanks))*":
    ALL_RIGHT,
  '(?:good job|well done|nice (?:job|work)|good (?:work|bot))(?:,? (?:delegate|thanks))*': 'Thank you.',
  'i (?:really )?(?:love|like) you(?: too| so much| very much)?': 'That is kind of you.',
  'are you (?:still )?(?:there|listening|awake)': 'Yes, I’m here. What can I do for you?',
  '(?:pardon|sorry|what|huh)': 'Ask me what I can do.',
}

const MY = '(?:my|the|our|this|all my)'
const DATA = '(?:data|information|conversations?|chats?|messages|memories|notes|history)'

const ABOUT: Readonly<Record<string, string>> = {
  'help(?: me)?|what (?:can|could|do) (?:you|u)(?: actually| even| really)? (?:do|offer)(?: for me| right now)?|what are (?:your|you) (?:skills?|features|able to do|good (?:at|for))|what can i (?:say|ask|do)(?: you| here)?|how (?:do|does) (?:you|this|it) work|how (?:can|could) you help(?: me)?|commands|/help|how do i (?:get started|start)':
    HELP,
  "(?:who|what) are you|what(?:'?s| is) your name|(?:are you|is this) (?:an? )?(?:real )?(?:ai|bot|robot|human|language model|llm|real|person|chat ?gpt|gpt|computer|machine)|(?:what|which) (?:language )?(?:model|ai) (?:are you|is this|do you use)(?: using)?|introduce yourself|tell me (?:something )?about yourself|who (?:made|built|created) you":
    ABOUT_ME,
  '(?:how|where) (?:do|can|could|should) (?:i|we) (?:connect|add|set ?up|use|get|enable|configure|enter|put|install|change)(?: to)? (?:an? |the |my |another |real |better |different |large |own )*(?:language model|model|llm|ai|openai|chat ?gpt|gpt|claude|ollama|(?:openai )?(?:api )?key)(?: service| model| key| api key)?(?: to you| here| for you)?|(?:connect|use|set up|add) (?:an? |the |my )?(?:language model|openai|chat ?gpt|llm|ollama)|how (?:do|can) i make you (?:smarter|better)|what is a language model|do (?:you|i) need (?:a language model|an? (?:api )?key|(?:the )?internet)':
    CONNECT,
  [`(?:is|are) ${MY} ${DATA}(?: really)?(?: private| safe| secure| encrypted| shared| sold)+(?: here| with you)?|(?:is (?:this|it)|are you) (?:private|safe|secure|(?:always )?(?:listening to|spying on|recording) me(?: all the time)?)|where (?:is|are|do you (?:keep|store|save)) ${MY} ${DATA}(?: stored| kept| saved)?|who (?:else )?can (?:see|read|access) (?:this|what i (?:say|write|tell you)|${MY} ${DATA})|do you (?:share|sell|send) ${MY} ${DATA}(?: anywhere| with anyone)?|(?:what about )?privacy`]:
    PRIVACY,
  [`(?:(?:how|where) (?:do|can) i )?(?:export|back up|download|import) (?:all )?(?:of )?${MY} ${DATA}`]:
    COPIES,
  [`(?:how|where) (?:do|can) i (?:delete|erase|see) (?:all )?(?:of )?${MY} (?:${DATA}|account|timeline)|(?:delete|erase|close) my account|(?:delete|erase|wipe|forget) (?:everything|it all|all (?:of )?${MY} ${DATA}|all)(?: you know| about me)*`]:
    ERASE,
}

/** The owner agrees to what the delegate has just asked. */
export const YES =
  '(?:yes|yeah|yep|ok|okay|sure|do it|go ahead|confirm(?: it)?)(?:,? (?:please|do it|cancel them|all|all of them))*'

const INTRODUCTION =
  "(?:hi|hello|hey|good (?:morning|afternoon|evening))(?: there| delegate)?[,.!]? (?:i'm|i am|my name(?:'s| is)|this is) (\\p{L}+)(?: here)?"

/** Replies without tools. Small talk gives way to a request in the same message. */
export const talkIntents: readonly Intent[] = [
  on(
    YES,
    (_groups, { conversation: { past } }) =>
      past[0]?.reply.startsWith('Nothing is done yet') ? CONFIRM_THERE : null,
    'talk',
  ),
  on(INTRODUCTION, ([name = '']) => (/^\p{Lu}/u.test(name) ? `Nice to meet you, ${name}.` : null), 'talk'),
  ...Object.entries(SMALL_TALK).map(([phrases, reply]) => on(phrases, () => reply, 'talk')),
  ...Object.entries(ABOUT).map(([phrases, reply]) => on(phrases, () => reply)),
]
