import type { Channel, SearchHit } from '../../../src/http/contract/timeline.ts'
import type { IconName } from '../design/icon.ts'

/** Icons by subject, the first word of an event type. */
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

export const channelSigns: Readonly<Record<string, Sign> & Record<Channel, Sign>> = {
  chat: { name: 'Chat', icon: 'chat' },
  voice: { name: 'Phone call', icon: 'phone' },
  sms: { name: 'Text message', icon: 'sms' },
  inner: { name: 'On its own', icon: 'spark' },
  system: { name: 'System', icon: 'bell' },
}

/** The icon of an event's subject, or null if it has none. */
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
  proposal: 'Proposal',
}

/** Icon and name of a search hit: its subject, or for chat messages their author. */
export function signOfHit({ type, channel }: Pick<SearchHit, 'type' | 'channel'>): Sign {
  const icon = subjectIcon(type)
  const name = names[subjectOf(type)]
  if (icon !== null && name !== undefined) return { icon, name }
  if (type === 'chat.message.received') return { icon: 'chat', name: 'You, in the chat' }
  if (type.startsWith('chat.') && channel === 'inner') return { icon: 'spark', name: 'Delegate, on its own' }
  if (type.startsWith('chat.')) return { icon: 'chat', name: 'Delegate, in the chat' }
  return channelSigns[channel ?? 'system'] ?? channelSigns.system
}

function subjectOf(type: string): string {
  return type.split('.')[0] ?? ''
}
