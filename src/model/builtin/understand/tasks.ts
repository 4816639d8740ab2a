import { call, type Plan, say } from '../plan.ts'
import { capitalise, tidy } from '../text.ts'
import { firstOf, type Rule, rule } from './rules.ts'

const ASSISTANT = '(?:coding\\s+(?:assistant|agent)|(?:github\\s+)?copilot)'
const MAX_TITLE_CHARS = 60
/** "… and text me when it is done", at the end of what is to be done. */
const TELL_ME =
  /[\s,;]+(?:(?:and|then)\s+){0,2}(text|sms|tell|message|notify|ping|let)\s+me\b([^\n]{0,80}?)[.!]?$/i

function dispatch(words: string): Plan {
  const asked = TELL_ME.exec(words)
  const prompt = tidy(asked ? words.slice(0, asked.index) : words)
  if (prompt === '') return say('What should the coding assistant do?')
  const channel = asked ? channelOf(asked[1] ?? '', asked[2] ?? '') : null
  return call('dispatch_task', { title: titleOf(prompt), prompt, notify: channel })
}

function channelOf(verb: string, rest: string): 'sms' | 'chat' | 'webhook' | null {
  if (/^(?:text|sms)$/i.test(verb) || /\b(?:by|with|in|via|a)\s+(?:text|sms)\b/i.test(rest)) return 'sms'
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

/** Work for the coding assistant: handing it over, asking after it, cancelling it. */
export const taskRule: Rule = firstOf([
  rule(
    new RegExp(
      `^(?:have|ask|tell|get|let|make|use)\\s+(?:the\\s+|my\\s+|our\\s+)?${ASSISTANT}\\s+(?:to\\s+)?(.+)$`,
      'is',
    ),
    ([words = '']) => dispatch(words),
  ),
  rule(
    new RegExp(
      `^(?:dispatch|start|create|hand over|give)\\s+(?:a\\s+)?(?:new\\s+)?(?:coding\\s+)?task\\s+(?:for|to)\\s+(?:the\\s+|my\\s+)?${ASSISTANT}\\s*(?:to\\s+|:\\s*)?(.+)$`,
      'is',
    ),
    ([words = '']) => dispatch(words),
  ),
  rule(
    /^(?:cancel|stop|abort)\s+(?:the\s+|my\s+)?(?:coding\s+)?task\s+(?:about\s+|called\s+|named\s+)?(.{1,200})$/is,
    ([name = '']) => call('cancel_task', { query: tidy(name) }),
  ),
  rule(
    /^(?:list|show|show me|what are|how are|which are)\s+(?:all\s+)?(?:the\s+|my\s+|our\s+)?(?:coding\s+)?tasks\b.{0,60}$/is,
    () => call('list_tasks', {}),
  ),
  rule(
    new RegExp(
      `^(?:how is|how's|what is|what's|is)\\s+(?:the\\s+|my\\s+)?${ASSISTANT}\\s+(?:doing|up to|working on|getting on|done|finished|ready).{0,60}$`,
      'is',
    ),
    () => call('list_tasks', {}),
  ),
])
