import type { EventOf } from '../../ledger/event.ts'

/** A message as the owner typed it: a note takes the place of each pasted part. Empty if the message is erased. */
export function typedWords({
  facts,
  body,
}: Pick<EventOf<'chat.message.received'>, 'facts' | 'body'>): string {
  const text = body?.text ?? ''
  let typed = ''
  let at = 0
  for (const [start, end] of [...(facts.pasted ?? [])].sort(([a], [b]) => a - b)) {
    const from = Math.max(at, start)
    if (end <= from || from >= text.length) continue
    typed += `${text.slice(at, from)}[pasted text, ${Math.min(end, text.length) - from} characters]`
    at = end
  }
  return typed + text.slice(at)
}
