import type * as z from 'zod'
import { backupEvents } from './backup.ts'
import { chatEvents } from './chat.ts'
import { contextEvents } from './context.ts'
import { conversationEvents } from './conversation.ts'
import { erasureEvents } from './erasure.ts'
import { haltEvents } from './halt.ts'
import { importEvents } from './import.ts'
import { memoryEvents } from './memory.ts'
import { noteEvents } from './note.ts'
import { notificationEvents } from './notification.ts'
import { ownerEvents } from './owner.ts'
import { proposalEvents } from './proposal.ts'
import { signalEvents } from './signal.ts'
import { smsEvents } from './sms.ts'
import { spendingEvents } from './spending.ts'
import { taskEvents } from './task.ts'
import { turnEvents } from './turn.ts'
import { voiceEvents } from './voice.ts'

/** Every event type of this build. Never rename a type or a field; see `upcast.ts` for older versions. */
export const catalogue = {
  ...conversationEvents,
  ...chatEvents,
  ...smsEvents,
  ...voiceEvents,
  ...turnEvents,
  ...contextEvents,
  ...memoryEvents,
  ...signalEvents,
  ...proposalEvents,
  ...noteEvents,
  ...taskEvents,
  ...ownerEvents,
  ...erasureEvents,
  ...haltEvents,
  ...spendingEvents,
  ...notificationEvents,
  ...backupEvents,
  ...importEvents,
}

export type EventType = keyof typeof catalogue
/** The group of a type: the part of its name before the dot. */
export type EventArea = EventType extends infer T ? (T extends `${infer A}.${string}` ? A : T) : never
export type FactsOf<T extends EventType> = z.output<(typeof catalogue)[T]['facts']>
export type BodyOf<T extends EventType> = z.output<NonNullable<(typeof catalogue)[T]['body']>>

/** Whether this build knows the type. */
export function isEventType(type: string): type is EventType {
  return Object.hasOwn(catalogue, type)
}

/** The area of a type: `turn` of `turn.started`. */
export function areaOf(type: EventType): EventArea {
  const end = type.indexOf('.')
  // Mirrors the template literal type above.
  return (end < 0 ? type : type.slice(0, end)) as EventArea
}
