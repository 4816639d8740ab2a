import { type Intent, on, type Reply, report } from '../intent.ts'
import { bullets, capitalise, tidy } from '../text.ts'

const ASSISTANT = '(?:coding (?:assistant|agent)|(?:github )?copilot)'
const MAX_TITLE_CHARS = 60
/** "… and text me when it is done", at the end of what is to be done. */
const TELL_ME = /[\s,;](?:(?:and|then) ){0,2}(text|sms|tell|message|notify|ping|let) me\b([^\n]{0,80})$/i

const CHANNELS: Readonly<Record<string, string>> = {
  chat: 'here in the chat',
  sms: 'by text message',
  webhook: 'by your webhook',
}

function dispatch([words = '']: readonly string[]): Reply {
  const asked = TELL_ME.exec(words)
  const prompt = tidy(asked ? words.slice(0, asked.index) : words)
  if (prompt === '') return 'What should the coding assistant do?'
  return handOver(prompt, asked ? channelOf(asked[1] ?? '', asked[2] ?? '') : null)
}

const handOver = (prompt: string, notify: string | null) =>
  report('dispatch_task', { title: titleOf(prompt), prompt, notify }, ({ task }) => {
    const what = task?.title ? `: “${task.title}”` : ''
    const where = CHANNELS[task?.notify ?? ''] ?? 'here'
    return `I handed that to the coding assistant${what}. When it is done you will be told ${where}.`
  })

function channelOf(verb: string, rest: string): 'sms' | 'chat' | 'webhook' | null {
  if (/^(?:text|sms)$/i.test(verb) || /\b(?:by|with|in|via|a) (?:text|sms)\b/i.test(rest)) return 'sms'
  if (/\bwebhook\b/i.test(rest)) return 'webhook'
  return /\bchat\b/i.test(rest) ? 'chat' : null
}

/** The first words of what is to be done. */
function titleOf(prompt: string): string {
  const line = prompt.split('\n', 1)[0] ?? prompt
  if (line.length <= MAX_TITLE_CHARS) return capitalise(line)
  const cut = line.slice(0, MAX_TITLE_CHARS)
  return capitalise(cut.slice(0, Math.max(cut.lastIndexOf(' '), 20)).toWellFormed())
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
    { kind: 'content' },
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
