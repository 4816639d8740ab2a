import { kindText } from '../data/erasures.ts'
import { isObject } from '../data/json.ts'
import type { TimelineEvent } from '../data/timeline.ts'
import { usageText } from '../view/context-words.ts'
import { delayText } from '../view/delay-words.ts'
import { countText, durationText, plural, wordsText } from '../view/format.ts'
import { isErased, wordsOf } from './event-kinds.ts'
import { settingsChangedText } from './setting-words.ts'

type Title = (event: TimelineEvent) => string

const text = (event: TimelineEvent, field: string): string => {
  const value = event.payload[field]
  return typeof value === 'string' ? value : ''
}
const number = (event: TimelineEvent, field: string): number => {
  const value = event.payload[field]
  return typeof value === 'number' ? value : 0
}
const size = (event: TimelineEvent, field: string): number => {
  const value = event.payload[field]
  return Array.isArray(value) ? value.length : 0
}
const named = (event: TimelineEvent, what: string, field = 'title'): string => {
  const name = isErased(event) ? '' : wordsOf(event, field)
  return name === '' ? what : `${what}: ${name}`
}
/** The end of what was written, in one line: an outcome may be pages long. */
const briefly = (event: TimelineEvent, what: string): string => {
  const words = isErased(event) ? '' : wordsOf(event).replaceAll(/\s+/g, ' ').trim()
  if (words === '') return what
  return `${what}: ${words.length > 160 ? `…${words.slice(-159)}` : words}`
}
/** "2 messages, 1 memory": of what kinds something is. */
const kindsText = (event: TimelineEvent): string => {
  const kinds: unknown = event.payload.kinds
  const words = (Array.isArray(kinds) ? kinds : []).flatMap((item: unknown) => {
    if (!isObject(item) || typeof item.kind !== 'string' || typeof item.count !== 'number') return []
    return [kindText(item.kind, item.count)]
  })
  return words.join(', ') || 'nothing that had words'
}
const tokens = (event: TimelineEvent): string => {
  const usage = event.payload.usage
  const holder: unknown = typeof usage === 'object' && usage !== null ? usage : event.payload
  const read = (field: string): number => {
    const value: unknown = typeof holder === 'object' && holder !== null ? Reflect.get(holder, field) : 0
    return typeof value === 'number' ? value : 0
  }
  return usageText({
    inputTokens: read('inputTokens'),
    outputTokens: read('outputTokens'),
    cachedTokens: read('cachedTokens'),
  })
}

/** Why a call ended, where the caller did not simply hang up. */
const callEnds: Readonly<Record<string, string>> = {
  line_lost: 'the line broke',
  owner_hung_up: 'you hung up from here',
  owner_calling: 'made way for your own call',
  silence: 'nothing was said any more',
  time_limit: 'the time for it was up',
  model_lost: 'the voice model did not answer any more',
  no_realtime_model: 'no realtime model is set that could talk',
  wrong_format: 'the line carried sound of a wrong format',
  backpressure: 'the line was too slow',
  service_stopping: 'Delegate was stopping',
  interrupted: 'Delegate was stopped',
  not_connected: 'it was never connected',
}
/** A call that never was, or whose end nobody saw, has no length. */
const callEnded = (durationMs: number, why?: string): string => {
  const what = durationMs === 0 ? 'Call ended' : `Call ended after ${durationText(durationMs)}`
  return why === undefined ? what : `${what}: ${why}`
}

/** An older event does not say what the reminder was for. */
const reminderText = (event: TimelineEvent): string => {
  const words = isErased(event) ? '' : wordsOf(event)
  return words === '' ? 'A reminder is due' : `Reminder · ${words}`
}

const titles: Readonly<Record<string, Title>> = {
  'conversation.ended': () => 'Conversation ended',
  'turn.started': (e) =>
    text(e, 'trigger') === 'activation'
      ? 'Started on its own'
      : `Took up the ${text(e, 'trigger') || 'message'}`,
  'turn.completed': (e) => `Finished: ${tokens(e)}`,
  'turn.items.kept': () => 'Kept its reasoning for the next step',
  'tool.called': (e) => `Called ${text(e, 'tool')}`,
  'tool.returned': (e) => `${text(e, 'tool')} returned`,
  'context.usage.recorded': (e) => `Context: ${tokens(e)}`,
  'context.compaction.requested': (e) => `Compaction requested (${text(e, 'source')})`,
  'context.compaction.succeeded': (e) =>
    `Compacted the context from ${countText(number(e, 'inputTokensBefore'))} to ${countText(number(e, 'inputTokensAfter'))} tokens`,
  'context.compaction.failed': (e) => `Compaction failed: ${wordsText(text(e, 'kind'))}`,
  'context.replacement.consumed': () => 'Continued from the compacted context',
  'context.capsule.written': () => 'Wrote a summary of the conversation so far',
  'memory.checkpoint.created': (e) => `Reviewed ${plural(number(e, 'turns'), 'turn')} for memories`,
  'memory.extraction.completed': (e) =>
    number(e, 'accepted') === 0
      ? 'Found nothing new to remember'
      : `Found ${plural(number(e, 'accepted'), 'memory', 'memories')} to keep`,
  'memory.extraction.failed': (e) => `Could not review for memories: ${wordsText(text(e, 'kind'))}`,
  'memory.stored': (e) => named(e, 'Remembered', 'text'),
  'memory.reinforced': () => 'Heard something again that it knew',
  'memory.merged': () => 'Merged two memories',
  'memory.discarded': (e) => `Chose not to remember something: ${wordsText(text(e, 'reason'))}`,
  'memory.conflicted': () => 'Two memories contradict each other',
  'memory.overridden': () => 'A newer memory replaced an older one',
  'memory.retired': (e) => `Retired a memory: ${wordsText(text(e, 'reason'))}`,
  'memory.restored': () => 'Restored a memory',
  'memory.deleted': () => 'Forgot a memory',
  'memory.sources.barred': () => 'Will not learn from what was said there',
  'memory.recalled': (e) =>
    `Recalled ${plural(size(e, 'ids') + size(e, 'turnSeqs'), 'thing')} that may matter`,
  'memory.recall.suppressed': (e) =>
    `Held back ${plural(size(e, 'ids'), 'memory', 'memories')}: ${wordsText(text(e, 'reason'))}`,
  'signal.raised': (e) => named(e, `Noticed ${wordsText(text(e, 'kind'))}`, 'text'),
  'activation.started': () => 'Woke up by itself',
  'activation.completed': (e) =>
    text(e, 'outcome') === 'spoke' ? 'Had something to say' : 'Had nothing to say',
  'activation.failed': (e) => `Could not act: ${wordsText(text(e, 'kind'))}`,
  'signal.dismissed': (e) =>
    `Let ${plural(size(e, 'signalIds'), 'signal')} go: ${wordsText(text(e, 'reason'))}`,
  'sms.status.reported': (e) => `Text message ${wordsText(text(e, 'status'))}`,
  'sms.undelivered': () => 'A text message did not arrive',
  'sms.delayed': (e) => `Texts wait: ${delayText(text(e, 'kind'))}`,
  'proposal.made': (e) =>
    text(e, 'kind') === 'tool'
      ? named(e, 'Waits for your word', 'target')
      : 'A text message waits for your word',
  'proposal.confirmed': () => 'You confirmed what was proposed',
  'proposal.declined': () => 'You declined what was proposed',
  'proposal.completed': (e) =>
    text(e, 'outcome') === 'done' ? 'Did what you confirmed' : 'Could not do what you confirmed',
  'call.offered': () => 'The phone rang',
  'call.rejected': (e) => `Call not taken: ${wordsText(text(e, 'reason'))}`,
  'call.connected': () => 'Call connected',
  'call.status.reported': (e) => `The provider reports: ${text(e, 'of')} ${wordsText(text(e, 'status'))}`,
  'call.interrupted': () => 'The caller spoke over the reply',
  'call.ended': (e) => callEnded(number(e, 'durationMs'), callEnds[text(e, 'reason')]),
  'note.created': (e) => named(e, 'Note created'),
  'note.updated': (e) => named(e, 'Note updated'),
  'note.deleted': () => 'Note deleted',
  'note.restored': (e) => `Note restored to revision ${countText(number(e, 'restoredRevision'))}`,
  'timer.set': (e) => named(e, 'Timer set'),
  'timer.fired': (e) => reminderText(e),
  'timer.missed': (e) =>
    number(e, 'missed') === 0
      ? 'Timer put right after the clock was'
      : briefly(e, 'Reminder missed while the service was down'),
  'timer.cancelled': () => 'Timer cancelled',
  'task.dispatched': (e) => named(e, 'Task handed over'),
  'task.progressed': (e) => named(e, 'Task under way', 'text'),
  'task.finished': (e) => briefly(e, 'Task finished'),
  'task.failed': (e) => briefly(e, `Task failed (${wordsText(text(e, 'kind'))})`),
  'task.cancelled': () => 'Task cancelled',
  'delivery.requested': (e) => `Message to be delivered by ${text(e, 'channel')}`,
  'delivery.attempted': (e) => `Delivery tried, attempt ${countText(number(e, 'attempt'))}`,
  'delivery.succeeded': () => 'Delivered',
  'delivery.failed': (e) => `Delivery failed: ${wordsText(text(e, 'kind'))}`,
  'delivery.unknown': () => 'Delivery not confirmed',
  'adaptation.saved': (e) => named(e, 'Standing instruction saved'),
  'adaptation.removed': () => 'Standing instruction removed',
  'erasure.requested': (e) => `Erasure requested: ${kindsText(e)}`,
  'erasure.undone': () => 'Erasure undone',
  'erasure.completed': (e) => `Erased for good: ${kindsText(e)}`,
  'adaptations.reloaded': (e) => `${plural(number(e, 'loaded'), 'standing instruction')} reloaded`,
  'settings.changed': ({ payload: { keys } }) => settingsChangedText(Array.isArray(keys) ? keys : []),
  'owner.installed': () => 'Delegate was set up',
  'owner.signed-in': () => 'Signed in',
  'owner.signed-out': () => 'Signed out',
  'owner.session.revoked': () => 'A session was signed out',
  'owner.password.changed': () => 'Password changed',
  'intrusion.counted': (e) =>
    `${plural(number(e, 'count'), 'refused attempt')}: ${wordsText(text(e, 'kind'))}`,
  'ledger.imported': () => 'History imported',
  'ledger.loss.accepted': (e) => lossText(e),
  'outbound.released': () => 'Outgoing work released',
}

function lossText({ payload: { fromSeq, toSeq } }: TimelineEvent): string {
  return typeof fromSeq === 'number' && typeof toSeq === 'number'
    ? `${plural(toSeq - fromSeq + 1, 'event')} before this went missing, and Delegate went on without`
    : 'An earlier part of the history went missing, and Delegate went on without'
}

/** One line that says what happened; an unknown type says its own name. */
export function titleOf(event: TimelineEvent): string {
  const title = titles[event.type]
  const words = title ? title(event) : wordsText(event.type)
  return words.charAt(0).toUpperCase() + words.slice(1)
}
