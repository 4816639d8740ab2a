/** What the builtin model says of itself. */
export const NEEDS_MODEL =
  'That needs a language model, and I am only the built-in one: I keep facts, notes and timers, search our timeline ' +
  'and tell the time, and nothing beyond that. To connect a language model, set OPENAI_API_KEY under Settings, or ' +
  'OPENAI_BASE_URL for a server of your own.'

export const HELP = `I am the built-in model. I work without a key and without a network, and I can:

- remember facts: “remember that my sister’s name is Ada”, “what do you remember about me?”, “forget that …”
- keep notes: “note: …”, “create a note called Trip: …”, “list my notes”, “add milk to my shopping list”
- set timers: “remind me in 20 minutes to …”, “wake me at 7”, “every weekday at 8:30 remind me to …”
- search our timeline: “when did I mention the dentist?”
- tell the time and the date

For real conversation, connect a language model: set OPENAI_API_KEY under Settings, or OPENAI_BASE_URL for a server \
of your own.`

export const WHO_AM_I =
  'I am Delegate, your assistant, answering with the built-in model: fixed rules, no language model. I keep facts, ' +
  'notes and timers, search our timeline and tell the time. A language model can be connected under Settings with ' +
  'OPENAI_API_KEY or OPENAI_BASE_URL.'

export const STATEMENT =
  'That is on our timeline now. What you plainly say of yourself I learn by fixed rules; “remember that …” makes sure ' +
  'that a fact is kept. To talk about it with me, connect a language model: OPENAI_API_KEY or OPENAI_BASE_URL under Settings.'

export const FOREIGN =
  'That is on our timeline now, and nothing else was done: as the built-in model I understand requests in English only. ' +
  'For other languages connect a language model: OPENAI_API_KEY or OPENAI_BASE_URL under Settings.'

export const GUEST =
  'Hello. I am an automated assistant; your message has been recorded for my owner. There is nothing else that I can ' +
  'do for you here.'

export const NOTHING_FOUND = 'I find nothing about that, neither among what I remember nor on our timeline.'

export const NOT_REMEMBERED = 'Nothing like that is remembered.'

export const BESIDE = 'I find nothing that says so, only what was said of the same thing.'

export const FORGOTTEN =
  'Forgotten: I do not look at it any more. What was said stays on the timeline until you erase it there.'

export const HAD_FORGOTTEN =
  'What was said about that you had me forget. It may still stand on the timeline, where you can look it up or erase it.'

export function quote(text: string): string {
  return `“${text.replace(/\s+/g, ' ').trim()}”`
}

export function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n')
}

/** Cuts at `maxChars`, marking the cut. */
export function shorten(text: string, maxChars: number): string {
  return text.length <= maxChars
    ? text
    : `${text
        .slice(0, maxChars - 1)
        .toWellFormed()
        .trimEnd()}…`
}
