import { say } from '../plan.ts'
import { HELP, WHO_AM_I } from '../wording.ts'
import { firstOf, type Rule, rule } from './rules.ts'

const END = '[\\s.!,?…:)(~-]*'
const whole = (pattern: string) => new RegExp(`^${END}(?:${pattern})${END}$`, 'iu')

/** Whole messages that need no tool. Tried before politeness is taken off. */
export const smallTalkRule: Rule = firstOf([
  rule(
    whole(
      '(?:hi+|hello+|hey+|hiya|howdy|yo|hallo|moin|servus|guten (?:tag|morgen|abend)|bonjour|salut|bonsoir|hola|buenos d[ií]as|buenas tardes|buongiorno|greetings|good (?:morning|afternoon|evening|day)|morning|evening)(?:,? (?:there|delegate|again|you|everyone))?',
    ),
    () => say('Hello! What can I do for you? “Help” shows what I can do.'),
  ),
  rule(
    whole(
      "(?:(?:hi|hello|hey)(?: there)?,? )?(?:nice to meet you|how are you(?: doing)?(?: today)?|how(?:'s| is) it going|what's up|how do you do)",
    ),
    () => say('All is well here. What can I do for you?'),
  ),
  rule(
    whole(
      '(?:(?:many |ok(?:ay)?,? |great,? |perfect,? |no,? )?(?:thanks|thank you|thx|ty|cheers|much appreciated|danke(?: sch[öo]n)?|vielen dank|merci(?: beaucoup)?|(?:muchas )?gracias|grazie)(?: (?:a lot|very much|so much|again|delegate|you))*)',
    ),
    () => say('You are welcome.'),
  ),
  rule(
    whole(
      '(?:bye|goodbye|bye bye|see you(?: later| soon| tomorrow)?|good night|later|ciao|talk to you later)',
    ),
    () => say('Goodbye!'),
  ),
  rule(
    whole(
      '(?:ok(?:ay)?|k|fine|great|good|nice|cool|perfect|alright|all right|got it|i see|yes|yeah|yep|no|nope|sure|right|wow|lol|haha)(?:[ ,]+(?:good|great|nice|then|ok))*',
    ),
    () => say('All right.'),
  ),
  rule(
    whole(
      '(?:help|hilfe|aide|ayuda|help me|what can you do(?: for me)?|what do you do|how do you work|how does this work|commands|what can i (?:say|ask)(?: you)?|who can help|how can you help(?: me)?|/help|menu|info)',
    ),
    () => say(HELP),
  ),
  rule(
    whole(
      "(?:(?:who|what) are you|what(?:'s| is) your name|are you (?:a |an )?(?:ai|bot|robot|human|language model|llm|real|person|chatgpt|gpt|computer)(?: model)?|(?:what|which) (?:language )?model (?:are you|is this|do you use|answers)(?: using)?|introduce yourself|tell me about yourself)",
    ),
    () => say(WHO_AM_I),
  ),
  rule(whole('(?:test|testing|ping|are you there|can you hear me)(?: (?:test|one|two|three|1|2|3))*'), () =>
    say('I am here.'),
  ),
])
