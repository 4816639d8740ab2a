import type { Channel, SearchHit } from '../data/timeline.ts'
import type { IconName } from '../design/icon.ts'

/** What carries a sign of its own wherever it shows: by the first word of its events' type. */
const subjects: Readonly<Record<string, IconName>> = {
  note: 'note',
  memory: 'brain',
  timer: 'timer',
  task: 'tool',
  call: 'phone',
  sms: 'sms',
  proposal: 'sms',
  delivery: 'bell',
  erasure: 'erased',
  adaptation: 'sliders',
}

export type Sign = { readonly name: string; readonly icon: IconName }

/** How each channel is called and shown. */
export const channelSigns: Readonly<Record<Channel, Sign>> = {
  chat: { name: 'Chat', icon: 'chat' },
  voice: { name: 'Phone call', icon: 'phone' },
  sms: { name: 'Text message', icon: 'sms' },
  inner: { name: 'On its own', icon: 'spark' },
  system: { name: 'System', icon: 'bell' },
}

/** The sign of what an event is about; null for what has none of its own. */
export function subjectIcon(type: string): IconName | null {
  return subjects[subjectOf(type)] ?? null
}

const names: Readonly<Record<string, string>> = {
  note: 'Note',
  memory: 'Memory',
  timer: 'Timer',
  task: 'Task',
  call: 'Phone call',
  sms: 'Text message',
  proposal: 'What waited for your word',
}

/** What was found: a note, a memory, a call; words of the chat by who said them. */
export function signOfHit({ type, channel }: Pick<SearchHit, 'type' | 'channel'>): Sign {
  const icon = subjectIcon(type)
  const name = names[subjectOf(type)]
  if (icon !== null && name !== undefined) return { icon, name }
  if (type === 'chat.message.received') return { icon: 'chat', name: 'You, in the chat' }
  if (type.startsWith('chat.') && channel === 'inner') return { icon: 'spark', name: 'Delegate, on its own' }
  if (type.startsWith('chat.')) return { icon: 'chat', name: 'Delegate, in the chat' }
  return channelSigns[channel ?? 'system']
}

function subjectOf(type: string): string {
  return type.split('.')[0] ?? ''
}
