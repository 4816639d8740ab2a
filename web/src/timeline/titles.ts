import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import { haltedHow } from '../app/halt-words.ts'
import {
  capitalised,
  countText,
  dayText,
  dollarsText,
  durationText,
  momentText,
  plural,
  shortDateText,
  wordsText,
} from '../design/format.ts'
import { delayText } from '../operations/health-words.ts'
import { channelText } from '../tasks/task-words.ts'
import { usageText } from './context-words.ts'
import { kindText } from './erasure-kinds.ts'
import {
  countField,
  isErased,
  isGuessing,
  isNewDevice,
  reminderText,
  textField,
  wordsOf,
} from './event-kinds.ts'

type Title = (event: TimelineEvent) => string

const text = textField
const number = (event: TimelineEvent, field: string): number => countField(event, field) ?? 0
const size = (event: TimelineEvent, field: string): number => {
  const value = event.payload[field]
  return Array.isArray(value) ? value.length : 0
}
const named = (event: TimelineEvent, what: string, field = 'title'): string => {
  const name = isErased(event) ? '' : wordsOf(event, field)
  return name === '' ? what : `${what}: ${name}`
}
/** The end of a text in one line. An outcome may be pages long. */
const briefly = (event: TimelineEvent, what: string): string => {
  const words = isErased(event) ? '' : wordsOf(event).replaceAll(/\s+/g, ' ').trim()
  if (words === '') return what
  return `${what}: ${words.length > 160 ? `…${words.slice(-159)}` : words}`
}
/** For example "2 messages, 1 memory". */
const kindsText = (event: TimelineEvent): string => {
  const { kinds } = event.payload
  const counts: readonly { kind: string; count: number }[] = Array.isArray(kinds) ? kinds : []
  return counts.map(({ kind, count }) => kindText(kind, count)).join(', ') || 'nothing with text'
}
const tokens = ({ payload }: TimelineEvent): string => {
  const { usage } = payload
  const counts = typeof usage === 'object' && usage !== null ? usage : payload
  const read = (field: string): number => Number(Reflect.get(counts, field) ?? 0)
  return usageText({
    inputTokens: read('inputTokens'),
    outputTokens: read('outputTokens'),
    cachedTokens: read('cachedTokens'),
  })
}

const money = (event: TimelineEvent, field: string): string => dollarsText(number(event, field))
const windowText = (event: TimelineEvent): string =>
  text(event, 'window') === 'day' ? '24 hours' : '30 days'
const modelText = ({ payload }: TimelineEvent): string => {
  const { model } = payload
  return typeof model === 'object' && model !== null ? String(Reflect.get(model, 'model')) : 'the model'
}
/** What vouches for the number of a caller. */
const attestations: Readonly<Record<string, string>> = {
  full: 'the number is attested in full',
  partial: 'the number is attested in part',
  gateway: 'the number is not attested, only its gateway',
  failed: 'the number failed attestation',
  client: 'from the voice client',
  none: 'the number is not attested',
}
const rang = (attestation: string | undefined): string =>
  attestation === undefined ? 'The phone rang' : `The phone rang: ${attestation}`

/** Why a call ended, other than by the caller hanging up. */
const callEnds: Readonly<Record<string, string>> = {
  line_lost: 'the line was lost',
  owner_hung_up: 'you hung up in the browser',
  owner_calling: 'replaced by your own call',
  silence: 'nobody spoke',
  time_limit: 'the time limit was reached',
  allowance: 'the allowance is used up',
  model_lost: 'the voice model stopped responding',
  no_realtime_model: 'no model can listen and speak',
  wrong_format: 'the audio format is not supported',
  backpressure: 'the connection was too slow',
  service_stopping: 'Delegate was shutting down',
  halted: 'Delegate was halted',
  interrupted: 'Delegate was stopped',
  not_connected: 'it was never connected',
}
/** A call that never connected, or whose end was not recorded, has no duration. */
const callEnded = (durationMs: number, why?: string): string => {
  const what = durationMs === 0 ? 'Call ended' : `Call ended after ${durationText(durationMs)}`
  return why === undefined ? what : `${what}: ${why}`
}

const backupFailures: Readonly<Record<string, string>> = {
  make: 'The backup failed',
  remove: 'Old backups were not removed',
  copy: 'The backups were not copied',
  test: 'The restore test of the newest backup failed',
}

const factorNames: Readonly<Record<string, string>> = {
  totp: 'Authenticator app',
  recovery_codes: 'New recovery codes',
  passkey: 'Passkey',
}
const factorText = (event: TimelineEvent): string => factorNames[text(event, 'kind')] ?? 'Something'

export const titles: Readonly<Record<string, Title>> = {
  'conversation.ended': () => 'Conversation ended',
  'turn.started': (e) =>
    text(e, 'trigger') === 'activation'
      ? 'Started on its own'
      : `Started on the ${text(e, 'trigger') || 'message'}`,
  'turn.completed': (e) => `Finished: ${tokens(e)}`,
  'turn.items.kept': () => 'Kept its reasoning for the next step',
  'tool.returned': (e) => `${text(e, 'tool')} returned`,
  'context.usage.recorded': (e) => `Context: ${tokens(e)}`,
  'context.compaction.requested': (e) => `Compaction requested (${text(e, 'source')})`,
  'context.compaction.succeeded': (e) =>
    `Compacted the context from ${countText(number(e, 'inputTokensBefore'))} to ${countText(number(e, 'inputTokensAfter'))} tokens`,
  'context.compaction.failed': (e) => `Compaction failed: ${wordsText(text(e, 'kind'))}`,
  'context.replacement.consumed': () => 'Continued from the compacted context',
  'context.capsule.written': () => 'Wrote a summary of the conversation so far',
  'context.capsule.failed': () => 'Could not write a summary of the conversation so far',
  'tool.called': (e) => `Tool called: ${wordsText(text(e, 'tool'))}`,
  'memory.checkpoint.created': (e) => `Reviewed ${plural(number(e, 'turns'), 'turn')} for memories`,
  'memory.extraction.completed': (e) =>
    number(e, 'accepted') === 0
      ? 'Found nothing new to remember'
      : `Found ${plural(number(e, 'accepted'), 'memory', 'memories')} to keep`,
  'memory.extraction.failed': () => 'Learned nothing from this: the model failed',
  'memory.stored': (e) => named(e, 'Remembered', 'text'),
  'memory.reinforced': () => 'Strengthened a memory',
  'memory.pinned': (e) => (e.payload.pinned === true ? 'Pinned a memory' : 'Unpinned a memory'),
  'memory.merged': () => 'Merged two memories',
  'memory.discarded': (e) => `Chose not to remember something: ${wordsText(text(e, 'reason'))}`,
  'memory.conflicted': () => 'Two memories contradict each other',
  'memory.overridden': () => 'A newer memory replaced an older one',
  'memory.retired': (e) => `Retired a memory: ${wordsText(text(e, 'reason'))}`,
  'memory.restored': () => 'Restored a memory',
  'memory.deleted': () => 'Forgot a memory',
  'memory.sources.barred': () => 'Will keep nothing of these messages in memory',
  'memory.sources.kept': () => 'Keeps a message in memory after all',
  'memory.recalled': (e) =>
    `Recalled ${plural(size(e, 'ids') + size(e, 'turnSeqs'), 'thing')} that may be relevant`,
  'memory.recall.suppressed': (e) =>
    `Held back ${plural(size(e, 'ids'), 'memory', 'memories')}: ${wordsText(text(e, 'reason'))}`,
  'signal.raised': (e) => named(e, `Noticed ${wordsText(text(e, 'kind'))}`, 'text'),
  'activation.started': () => 'Woke up on its own',
  'activation.completed': (e) =>
    text(e, 'outcome') === 'spoke' ? 'Had something to say' : 'Had nothing to say',
  'activation.failed': (e) => `Could not act: ${wordsText(text(e, 'kind'))}`,
  'signal.dismissed': (e) =>
    `Dismissed ${plural(size(e, 'signalIds'), 'signal')}: ${wordsText(text(e, 'reason'))}`,
  'sms.status.reported': (e) => `Text message ${wordsText(text(e, 'status'))}`,
  'sms.delayed': (e) => `Texts delayed: ${delayText(text(e, 'kind'))}`,
  'call.offered': (e) => rang(attestations[text(e, 'attestation')]),
  'call.pin.accepted': () => 'PIN accepted',
  'call.pin.refused': () => 'Wrong PIN',
  'call.rejected': (e) => `Call rejected: ${wordsText(text(e, 'reason'))}`,
  'call.connected': () => 'Call connected',
  'call.status.reported': (e) => `The provider reports: ${text(e, 'of')} ${wordsText(text(e, 'status'))}`,
  'call.interrupted': () => 'The caller spoke over the reply',
  'call.ended': (e) => callEnded(number(e, 'durationMs'), callEnds[text(e, 'reason')]),
  'note.created': (e) => named(e, 'Note created'),
  'note.updated': (e) => named(e, 'Note updated'),
  'note.deleted': () => 'Note deleted',
  'note.restored': (e) => `Note restored to revision ${countText(number(e, 'restoredRevision'))}`,
  'timer.set': (e) =>
    named(e, e.payload.snoozes ? `Snoozed until ${momentText(text(e, 'dueAt'))}` : 'Reminder set'),
  'timer.changed': (e) => named(e, 'Reminder changed'),
  'timer.done': () => 'Reminder done',
  'timer.fired': reminderText,
  'timer.missed': (e) =>
    number(e, 'missed') === 0
      ? 'Reminder adjusted after a clock change'
      : briefly(e, 'Reminder missed while the service was down'),
  'timer.cancelled': () => 'Reminder cancelled',
  'task.dispatched': (e) => named(e, 'Task handed over'),
  'task.progressed': (e) => named(e, 'Task in progress', 'text'),
  'task.finished': (e) => briefly(e, 'Task finished'),
  'task.failed': (e) => briefly(e, `Task failed (${wordsText(text(e, 'kind'))})`),
  'task.cancelled': () => 'Task cancelled',
  'delivery.requested': (e) => `Delivery ${channelText(text(e, 'channel'))} requested`,
  'delivery.attempted': (e) => `Delivery attempt ${countText(number(e, 'attempt'))}`,
  'delivery.succeeded': () => 'Delivered',
  'delivery.failed': (e) => `Delivery failed: ${wordsText(text(e, 'kind'))}`,
  'delivery.unknown': () => 'Delivery not confirmed',
  'adaptation.saved': (e) => named(e, 'Standing instruction saved'),
  'adaptation.removed': () => 'Standing instruction removed',
  'spend.reserved': (e) => `Reserved ${money(e, 'amountMicros')}`,
  'spend.settled': (e) => `Cost ${money(e, 'amountMicros')}`,
  'allowance.reached': (e) =>
    number(e, 'level') >= 100
      ? `The allowance for ${windowText(e)} is used up: ${money(e, 'spentMicros')} of ${money(e, 'limitMicros')}`
      : `${money(e, 'spentMicros')} of the ${money(e, 'limitMicros')} for ${windowText(e)} are spent. Background work stops at 90 %`,
  'allowance.raised': (e) => `You allowed another ${money(e, 'amountMicros')} for 24 hours`,
  'price.missing': (e) =>
    `What does ${modelText(e)} cost? Until you set its price, the dearest one is assumed`,
  'erasure.requested': (e) => `Erasure requested: ${kindsText(e)}`,
  'erasure.undone': () => 'Erasure undone',
  'erasure.completed': (e) => `Erased for good: ${kindsText(e)}${remainsText(e)}`,
  'adaptations.reloaded': (e) => `${plural(number(e, 'loaded'), 'standing instruction')} reloaded`,
  'settings.changed': settingsText,
  'owner.installed': () => 'Delegate was set up',
  'owner.signed-in': (e) => (isNewDevice(e) ? 'Signed in on a new device' : 'Signed in'),
  'owner.signed-out': () => 'Signed out',
  'owner.session.revoked': (e) =>
    isGuessing(e) ? 'A session ended after 20 wrong passwords or codes' : 'A session was signed out',
  'owner.password.changed': () => 'Password changed',
  'owner.factor.added': (e) => `${factorText(e)} added`,
  'owner.factor.removed': (e) =>
    `${factorText(e)} removed${text(e, 'by') === 'shell' ? ' from the shell' : ''}`,
  'owner.recovery-code.used': (e) => `A recovery code was used; ${countText(number(e, 'left'))} left`,
  'intrusion.counted': intrusionText,
  'ledger.imported': () => 'History imported',
  'ledger.loss.accepted': lossText,
  'ledger.salvaged': salvagedText,
  'ledger.damage.found': (e) =>
    `The history is damaged${number(e, 'seq') > 0 ? ` at event ${number(e, 'seq')}` : ''}. Operations → Health says what to do`,
  'ledger.event.lost': () => 'This event was lost',
  'outbound.released': () => 'Outgoing work released',
  'notification.seen': () => 'Notifications seen',
  'push.subscribed': () => 'Push notifications turned on for a browser',
  'push.unsubscribed': (e) =>
    text(e, 'reason') === 'expired'
      ? 'A browser no longer accepts push notifications'
      : 'Push notifications turned off for a browser',
  'backup.requested': () => 'Backup requested',
  'backup.made': () => 'Backup made',
  'backup.failed': (e) => `${backupFailures[text(e, 'step')] ?? 'A backup failed'}: ${text(e, 'reason')}`,
  'backup.removed': (e) => `Removed ${plural(size(e, 'names'), 'old backup')}`,
  'backup.copied': () => 'Backups copied elsewhere',
  'backup.tested': (e) =>
    e.payload.ok === true ? 'Restored the newest backup to test it' : 'The newest backup failed its test',
  'delegation.halted': (e) => `Delegate halted ${haltedHow(text(e, 'by'))}`,
  'delegation.released': () => 'Delegate released',
}

/** Where erased words may remain. */
function remainsText(event: TimelineEvent): string {
  return postgresText(event) + devicesText(event) + backupsText(event)
}

function devicesText({ payload: { devices } }: TimelineEvent): string {
  if (!Array.isArray(devices)) return ''
  const copies = devices.map(
    ({ device, until }: { device: string; until: string }) => `${device}, until ${dayText(until)} at most`,
  )
  return `. Offline copies may still show it, until they next reach Delegate: ${copies.join('; ')}`
}

function backupsText({ payload: { backups } }: TimelineEvent): string {
  if (typeof backups !== 'object' || backups === null) return ''
  const { count, until } = backups as { count: number; until: string | null }
  const holders = count === 1 ? '1 backup still holds the words' : `${count} backups still hold the words`
  return `. ${holders}, until ${until === null ? `you delete ${count === 1 ? 'it' : 'them'}` : shortDateText(until)}`
}

function postgresText({ payload: { postgres } }: TimelineEvent): string {
  if (typeof postgres !== 'object' || postgres === null) return ''
  const { erased, nodes } = postgres as { erased: boolean; nodes: readonly string[] }
  const rows = erased ? "PostgreSQL's dead rows until its vacuum" : 'PostgreSQL, which has not confirmed it'
  const machines = nodes.map((node) => `on ${node}, which has not confirmed it`)
  return `. They may remain in ${[rows, 'in its log and archives', ...machines].join('; ')}`
}

function intrusionText(event: TimelineEvent): string {
  const [kind, count] = [text(event, 'kind'), number(event, 'count')]
  if (kind === 'sign_in_refused')
    return `Someone failed to sign in: ${plural(count, 'wrong password or code', 'wrong passwords or codes')}`
  if (kind === 'sign_in_throttled') return `${plural(count, 'sign-in')} refused after too many failures`
  return `${plural(count, 'refused attempt')}: ${wordsText(kind)}`
}

function settingsText(event: TimelineEvent): string {
  const count = size(event, 'keys')
  return count === 0 ? 'Settings changed' : `${plural(count, 'setting')} changed`
}

function lossText({ payload: { fromSeq, toSeq } }: TimelineEvent): string {
  return typeof fromSeq === 'number' && typeof toSeq === 'number'
    ? `${plural(toSeq - fromSeq + 1, 'earlier event')} lost; Delegate continued from here`
    : 'Part of the history was lost; Delegate continued from here'
}

function salvagedText({ payload: { gaps } }: TimelineEvent): string {
  const ranges: readonly { firstSeq: number; lastSeq: number }[] = Array.isArray(gaps) ? gaps : []
  const lost = ranges.reduce((sum, { firstSeq, lastSeq }) => sum + lastSeq - firstSeq + 1, 0)
  return lost === 0
    ? 'The history was damaged, and is restored in full'
    : `The history was damaged: ${plural(lost, 'event')} lost, the others are restored`
}

/** What happened, in one line. An unknown event type is shown by its name. */
export function titleOf(event: TimelineEvent): string {
  const title = titles[event.type]
  const words = title ? title(event) : wordsText(event.type)
  return capitalised(words)
}
