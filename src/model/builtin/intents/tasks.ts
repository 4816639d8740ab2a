import { shorten } from '../../../lib/shorten.ts'
import { type Intent, on, type Reply, report } from '../intent.ts'
import { bullets, capitalise, tidy } from '../text.ts'

const ASSISTANT = '(?:coding (?:assistant|agent)|(?:github )?copilot)'
const MAX_TITLE_CHARS = 60
/** "… and text me when it is done", at the end of a task. */
const TELL_ME = /[\s,;](?:(?:and|then) ){0,2}((?:text|sms|tell|message|notify|ping|let) me\b[^\n]{0,80})$/i

function dispatch([words = '']: readonly string[]): Reply {
  const asked = TELL_ME.exec(words)
  const prompt = tidy(words.slice(0, asked?.index))
  if (prompt === '') return 'What should the coding assistant do?'
  const notify =
    asked && /^(?:text|sms)|\b(?:by|with|via|a) (?:text|sms)\b/i.test(asked[1] ?? '') ? 'sms' : null
  const title = shorten(capitalise(prompt.split('\n', 1)[0] ?? ''), MAX_TITLE_CHARS)
  return report('dispatch_task', { title, prompt, notify }, ({ task }) => {
    const where = task?.notify === 'sms' ? 'You get a text message' : 'I tell you here'
    return `I handed “${task?.title ?? title}” to the coding assistant. ${where} when it is done.`
  })
}

const list = () =>
  report('list_tasks', {}, ({ tasks }) => {
    const lines = tasks.map(
      ({ title, status, outcome }) => `${title} (${status})${outcome ? `: ${outcome}` : ''}`,
    )
    return lines.length === 0 ? 'The coding assistant has had no tasks yet.' : bullets(lines)
  })

const cancel = ([query = '']: readonly string[]) =>
  report('cancel_task', { query: tidy(query) }, ({ task }) => `Cancelled: “${task?.title ?? tidy(query)}”.`)

/** Work for the coding assistant. */
export const taskIntents: readonly Intent[] = [
  on(
    [
      `(?:have|ask|tell|get|let|make|use) (?:the |my |our )?${ASSISTANT} (?:to )?(.+)`,
      `(?:dispatch|start|create|hand over|give) (?:a )?(?:new )?(?:coding )?task (?:for|to) (?:the |my )?${ASSISTANT}:?(?: to)? (.+)`,
    ],
    dispatch,
    'content',
  ),
  on(/^(?:cancel|stop|abort) (?:the |my )?(?:coding )?task (?:about |called |named )?(.{1,200})$/, cancel),
  on(
    [
      /^(?:list|show|show me|what are|how are|which are)(?: all)?(?: the| my| our)?(?: coding)? tasks\b.{0,60}$/,
      `(?:how is|how's|what is|what's|is) (?:the |my )?${ASSISTANT} (?:doing|up to|working on|getting on|done|finished|ready).{0,60}`,
    ],
    list,
  ),
]
