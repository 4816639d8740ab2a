import type { Channel, SearchHit } from '../../../src/http/contract/timeline.ts'
import type { IconName } from '../design/icon.ts'
import { msg } from '../design/msg.ts'

export type Sign = { readonly name: string; readonly icon: IconName }

export const channelSigns: Readonly<Record<string, Sign> & Record<Channel, Sign>> = {
  chat: { name: msg`Chat`, icon: 'chat' },
  voice: { name: msg`Phone call`, icon: 'phone' },
  sms: { name: msg`Text message`, icon: 'sms' },
  inner: { name: msg`On its own`, icon: 'spark' },
  system: { name: msg`System`, icon: 'bell' },
}

/** By subject, the first word of an event type. The search shows those with a name. */
const subjects: Readonly<Record<string, { readonly icon: IconName; readonly name?: string }>> = {
  note: { icon: 'note', name: msg`Note` },
  memory: { icon: 'brain', name: msg`Memory` },
  timer: { icon: 'timer', name: msg`Reminder` },
  task: { icon: 'tool', name: msg`Task` },
  call: { icon: 'phone', name: msg`Phone call` },
  sms: { icon: 'sms', name: msg`Text message` },
  proposal: { icon: 'sms', name: msg`Proposal` },
  delivery: { icon: 'bell' },
  erasure: { icon: 'erased' },
  adaptation: { icon: 'sliders' },
  delegation: { icon: 'halt' },
  allowance: { icon: 'money' },
  price: { icon: 'money' },
  backup: { icon: 'copy' },
  owner: { icon: 'key' },
  intrusion: { icon: 'warning' },
}

const subjectOf = (type: string) => subjects[type.split('.')[0] ?? '']

/** The icon of an event's subject, or null if it has none. */
export function subjectIcon(type: string): IconName | null {
  return subjectOf(type)?.icon ?? null
}

/** Icon and name of a search hit: its subject, or for chat messages their author. */
export function signOfHit({ type, channel }: Pick<SearchHit, 'type' | 'channel'>): Sign {
  const { icon, name } = subjectOf(type) ?? {}
  if (icon !== undefined && name !== undefined) return { icon, name }
  if (type === 'chat.message.received') return { icon: 'chat', name: msg`You, in the chat` }
  if (type.startsWith('chat.') && channel === 'inner')
    return { icon: 'spark', name: msg`Delegate, on its own` }
  if (type.startsWith('chat.')) return { icon: 'chat', name: msg`Delegate, in the chat` }
  return channelSigns[channel ?? 'system'] ?? channelSigns.system
}
