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
import { msg, translateSentence } from '../design/msg.ts'
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
const named = (
  event: TimelineEvent,
  what: string,
  field = 'title',
  shown = (name: string) => name,
): string => {
  const name = isErased(event) ? '' : wordsOf(event, field)
  return name === '' ? what : `${what}: ${shown(name)}`
}
/** The end of a text in one line. An outcome may be pages long. */
const briefly = (event: TimelineEvent, what: string): string => {
  const words = isErased(event) ? '' : translateSentence(wordsOf(event)).replaceAll(/\s+/g, ' ').trim()
  if (words === '') return what
  return `${what}: ${words.length > 160 ? `…${words.slice(-159)}` : words}`
}
/** For example "2 messages, 1 memory". */
const kindsText = (event: TimelineEvent): string => {
  const { kinds } = event.payload
  const counts: readonly { kind: string; count: number }[] = Array.isArray(kinds) ? kinds : []
  return counts.map(({ kind, count }) => kindText(kind, count)).join(', ') || msg`nothing with text`
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
  text(event, 'window') === 'day' ? msg`24 hours` : msg`30 days`
const modelText = ({ payload }: TimelineEvent): string => {
  const { model } = payload
  return typeof model === 'object' && model !== null ? String(Reflect.get(model, 'model')) : msg`the model`
}
/** What vouches for the number of a caller. */
const attestations: Readonly<Record<string, string>> = {
  full: msg`the number is attested in full`,
  partial: msg`the number is attested in part`,
  gateway: msg`the number is not attested, only its gateway`,
  failed: msg`the number failed attestation`,
  client: msg`from the voice client`,
  none: msg`the number is not attested`,
}
const rang = (attestation: string | undefined): string =>
  attestation === undefined ? msg`The phone rang` : msg`The phone rang: ${attestation}`

/** Whether an event is of a talk in the browser, by the id of its call. */
export const isOfTalk = (event: TimelineEvent): boolean => text(event, 'callSid').startsWith('browser-')

/** Why a call ended, other than by the caller hanging up. */
const callEnds: Readonly<Record<string, string>> = {
  line_lost: msg`the line was lost`,
  owner_hung_up: msg`you hung up in the browser`,
  owner_calling: msg`replaced by your own call`,
  silence: msg`nobody spoke`,
  time_limit: msg`the time limit was reached`,
  allowance: msg`the allowance is used up`,
  model_lost: msg`the voice model stopped responding`,
  no_realtime_model: msg`no model can listen and speak`,
  wrong_format: msg`the audio format is not supported`,
  backpressure: msg`the connection was too slow`,
  service_stopping: msg`Delegate was shutting down`,
  halted: msg`Delegate was halted`,
  interrupted: msg`Delegate was stopped`,
  not_connected: msg`it was never connected`,
}
/** A call that never connected, or whose end was not recorded, has no duration. */
const callEnded = (event: TimelineEvent): string => {
  const durationMs = number(event, 'durationMs')
  const why = callEnds[text(event, 'reason')]
  const after = durationText(durationMs)
  const ended = isOfTalk(event) ? msg`Talk ended` : msg`Call ended`
  const endedAfter = isOfTalk(event) ? msg`Talk ended after ${after}` : msg`Call ended after ${after}`
  const what = durationMs === 0 ? ended : endedAfter
  return why === undefined ? what : `${what}: ${why}`
}

const backupFailures: Readonly<Record<string, string>> = {
  make: msg`The backup failed`,
  remove: msg`Old backups were not removed`,
  copy: msg`The backups were not copied`,
  test: msg`The restore test of the newest backup failed`,
}

const triggers: Readonly<Record<string, string>> = {
  activation: msg`Started on its own`,
  message: msg`Started on a message`,
  sms: msg`Started on a text`,
  call: msg`Started on a call`,
}

const factorNames: Readonly<Record<string, string>> = {
  totp: msg`Authenticator app`,
  recovery_codes: msg`New recovery codes`,
  passkey: msg`Passkey`,
}
const factorText = (event: TimelineEvent): string => factorNames[text(event, 'kind')] ?? msg`Something`

export const titles: Readonly<Record<string, Title>> = {
  'conversation.ended': () => msg`Conversation ended`,
  'turn.started': (e) => triggers[text(e, 'trigger')] ?? msg`Started`,
  'turn.completed': (e) => msg`Finished: ${tokens(e)}`,
  'turn.items.kept': () => msg`Kept its reasoning for the next step`,
  'tool.returned': (e) => msg`${text(e, 'tool')} returned`,
  'context.usage.recorded': (e) => msg`Context: ${tokens(e)}`,
  'context.compaction.requested': (e) =>
    msg`Compaction requested (${text(e, 'source') === 'manual' ? msg`by you` : msg`automatically`})`,
  'context.compaction.succeeded': (e) =>
    msg`Compacted the context from ${countText(number(e, 'inputTokensBefore'))} to ${countText(number(e, 'inputTokensAfter'))} tokens`,
  'context.compaction.failed': (e) => msg`Compaction failed: ${wordsText(text(e, 'kind'))}`,
  'context.replacement.consumed': () => msg`Continued from the compacted context`,
  'context.capsule.written': () => msg`Wrote a summary of the conversation so far`,
  'context.capsule.failed': () => msg`Could not write a summary of the conversation so far`,
  'tool.called': (e) => msg`Tool called: ${wordsText(text(e, 'tool'))}`,
  'memory.checkpoint.created': (e) =>
    msg`Reviewed ${plural(number(e, 'turns'), msg`turn`, msg`turns`)} for memories`,
  'memory.extraction.completed': (e) =>
    number(e, 'accepted') === 0
      ? msg`Found nothing new to remember`
      : msg`Found ${plural(number(e, 'accepted'), msg`memory`, msg`memories`)} to keep`,
  'memory.extraction.failed': () => msg`Learned nothing from this: the model failed`,
  'memory.stored': (e) => named(e, msg`Remembered`, 'text'),
  'memory.reinforced': () => msg`Strengthened a memory`,
  'memory.pinned': (e) => (e.payload.pinned === true ? msg`Pinned a memory` : msg`Unpinned a memory`),
  'memory.merged': () => msg`Merged two memories`,
  'memory.discarded': (e) => msg`Chose not to remember something: ${wordsText(text(e, 'reason'))}`,
  'memory.conflicted': () => msg`Two memories contradict each other`,
  'memory.overridden': () => msg`A newer memory replaced an older one`,
  'memory.retired': (e) => msg`Retired a memory: ${wordsText(text(e, 'reason'))}`,
  'memory.restored': () => msg`Restored a memory`,
  'memory.deleted': () => msg`Forgot a memory`,
  'memory.sources.barred': () => msg`Will keep nothing of these messages in memory`,
  'memory.sources.kept': () => msg`Keeps a message in memory after all`,
  'memory.recalled': (e) =>
    msg`Recalled ${plural(size(e, 'ids') + size(e, 'turnSeqs'), msg`thing`, msg`things`)} that may be relevant`,
  'memory.recall.suppressed': (e) =>
    msg`Held back ${plural(size(e, 'ids') + size(e, 'turnSeqs'), msg`thing`, msg`things`)}: ${wordsText(text(e, 'reason'))}`,
  'signal.raised': (e) => named(e, msg`Noticed ${wordsText(text(e, 'kind'))}`, 'text'),
  'activation.started': () => msg`Woke up on its own`,
  'activation.completed': (e) =>
    text(e, 'outcome') === 'spoke' ? msg`Had something to say` : msg`Had nothing to say`,
  'activation.failed': (e) => msg`Could not act: ${wordsText(text(e, 'kind'))}`,
  'signal.dismissed': (e) =>
    msg`Dismissed ${plural(size(e, 'signalIds'), msg`signal`, msg`signals`)}: ${wordsText(text(e, 'reason'))}`,
  'sms.status.reported': (e) => msg`Text message ${wordsText(text(e, 'status'))}`,
  'sms.delayed': (e) => msg`Texts delayed: ${delayText(text(e, 'kind'))}`,
  'call.offered': (e) =>
    isOfTalk(e) ? msg`Talk in the browser` : rang(attestations[text(e, 'attestation')]),
  'call.pin.accepted': () => msg`PIN accepted`,
  'call.pin.refused': () => msg`Wrong PIN`,
  'call.rejected': (e) => msg`Call rejected: ${wordsText(text(e, 'reason'))}`,
  'call.connected': (e) => (isOfTalk(e) ? msg`Talk connected` : msg`Call connected`),
  'call.status.reported': (e) => msg`The provider reports: ${text(e, 'of')} ${wordsText(text(e, 'status'))}`,
  'call.interrupted': () => msg`The caller spoke over the reply`,
  'call.ended': callEnded,
  'note.created': (e) => named(e, msg`Note created`),
  'note.updated': (e) => named(e, msg`Note updated`),
  'note.deleted': () => msg`Note deleted`,
  'note.restored': (e) => msg`Note restored to revision ${countText(number(e, 'restoredRevision'))}`,
  'timer.set': (e) =>
    named(e, e.payload.snoozes ? msg`Snoozed until ${momentText(text(e, 'dueAt'))}` : msg`Reminder set`),
  'timer.changed': (e) => named(e, msg`Reminder changed`),
  'timer.done': () => msg`Reminder done`,
  'timer.fired': reminderText,
  'timer.missed': (e) =>
    number(e, 'missed') === 0
      ? msg`Reminder adjusted after a clock change`
      : briefly(e, msg`Reminder missed while the service was down`),
  'timer.cancelled': () => msg`Reminder cancelled`,
  'task.dispatched': (e) => named(e, msg`Task handed over`),
  'task.progressed': (e) => named(e, msg`Task in progress`, 'text', translateSentence),
  'task.finished': (e) => briefly(e, msg`Task finished`),
  'task.failed': (e) => briefly(e, msg`Task failed (${wordsText(text(e, 'kind'))})`),
  'task.cancelled': () => msg`Task cancelled`,
  'delivery.requested': (e) => msg`Delivery ${channelText(text(e, 'channel'))} requested`,
  'delivery.attempted': (e) => msg`Delivery attempt ${countText(number(e, 'attempt'))}`,
  'delivery.succeeded': () => msg`Delivered`,
  'delivery.failed': (e) =>
    text(e, 'kind') === 'obsolete'
      ? msg`Not sent, because it was no longer needed`
      : msg`Delivery failed: ${wordsText(text(e, 'kind'))}`,
  'delivery.unknown': () => msg`Delivery not confirmed`,
  'adaptation.saved': (e) => named(e, msg`Standing instruction saved`),
  'adaptation.removed': () => msg`Standing instruction removed`,
  'spend.reserved': (e) => msg`Reserved ${money(e, 'amountMicros')}`,
  'spend.settled': (e) => msg`Cost ${money(e, 'amountMicros')}`,
  'allowance.reached': (e) =>
    number(e, 'level') >= 100
      ? msg`The allowance for ${windowText(e)} is used up: ${money(e, 'spentMicros')} of ${money(e, 'limitMicros')}`
      : msg`${money(e, 'spentMicros')} of the ${money(e, 'limitMicros')} for ${windowText(e)} are spent. Background work stops at 90 %`,
  'allowance.raised': (e) => msg`You allowed another ${money(e, 'amountMicros')} for 24 hours`,
  'price.missing': (e) =>
    msg`What does ${modelText(e)} cost? Until you set its price, the dearest one is assumed`,
  'erasure.requested': (e) => msg`Erasure requested: ${kindsText(e)}`,
  'erasure.undone': () => msg`Erasure undone`,
  'erasure.completed': (e) =>
    msg`Erased for good: ${kindsText(e)}${postgresText(e) + devicesText(e) + backupsText(e)}`,
  'adaptations.reloaded': (e) =>
    msg`${plural(number(e, 'loaded'), msg`standing instruction`, msg`standing instructions`)} reloaded`,
  'settings.changed': settingsText,
  'owner.installed': () => msg`Delegate was set up`,
  'owner.signed-in': (e) => (isNewDevice(e) ? msg`Signed in on a new device` : msg`Signed in`),
  'owner.signed-out': () => msg`Signed out`,
  'owner.session.revoked': (e) =>
    isGuessing(e) ? msg`A session ended after 20 wrong passwords or codes` : msg`A session was signed out`,
  'owner.password.changed': () => msg`Password changed`,
  'owner.factor.added': (e) => msg`${factorText(e)} added`,
  'owner.factor.removed': (e) =>
    msg`${factorText(e)} removed${text(e, 'by') === 'shell' ? msg` from the shell` : ''}`,
  'owner.recovery-code.used': (e) => msg`A recovery code was used; ${countText(number(e, 'left'))} left`,
  'intrusion.counted': intrusionText,
  'ledger.imported': () => msg`History imported`,
  'ledger.loss.accepted': lossText,
  'ledger.salvaged': salvagedText,
  'ledger.damage.found': (e) =>
    msg`The history is damaged${number(e, 'seq') > 0 ? msg` at event ${number(e, 'seq')}` : ''}. Operations → Health says what to do`,
  'ledger.event.lost': () => msg`This event was lost`,
  'outbound.released': () => msg`Outgoing work released`,
  'notification.seen': () => msg`Notifications seen`,
  'push.subscribed': () => msg`Push notifications turned on for a browser`,
  'push.unsubscribed': (e) =>
    text(e, 'reason') === 'expired'
      ? msg`A browser no longer accepts push notifications`
      : msg`Push notifications turned off for a browser`,
  'backup.requested': () => msg`Backup requested`,
  'backup.made': () => msg`Backup made`,
  'backup.failed': (e) =>
    `${backupFailures[text(e, 'step')] ?? msg`A backup failed`}: ${translateSentence(text(e, 'reason'))}`,
  'backup.removed': (e) => msg`Removed ${plural(size(e, 'names'), msg`old backup`, msg`old backups`)}`,
  'backup.copied': () => msg`Backups copied elsewhere`,
  'backup.tested': (e) =>
    e.payload.ok === true
      ? msg`Restored the newest backup to test it`
      : msg`The newest backup failed its test`,
  'delegation.halted': (e) => msg`Delegate halted ${haltedHow(text(e, 'by'))}`,
  'delegation.released': () => msg`Delegate released`,
}

/** Where erased words may remain. */
function devicesText({ payload: { devices } }: TimelineEvent): string {
  if (!Array.isArray(devices)) return ''
  const copies = devices.map(
    ({ device, until }: { device: string; until: string }) => msg`${device}, until ${dayText(until)} at most`,
  )
  return msg`. Offline copies may still show it, until they next reach Delegate: ${copies.join('; ')}`
}

function backupsText({ payload: { backups } }: TimelineEvent): string {
  if (typeof backups !== 'object' || backups === null) return ''
  const { count, until, missing = 0 } = backups as { count: number; until: string | null; missing?: number }
  const here = count - missing
  const holders = here === 1 ? msg`1 backup still holds the words` : msg`${here} backups still hold the words`
  const removed =
    here === 0
      ? ''
      : msg`. ${holders}, until ${until === null ? (here === 1 ? msg`you delete it` : msg`you delete them`) : shortDateText(until)}`
  if (missing === 0) return removed
  const elsewhere = plural(missing, msg`backup`, msg`backups`)
  return (
    removed +
    msg`. Delegate cannot remove what is missing from the backup directory: ${elsewhere} with the words`
  )
}

function postgresText({ payload: { postgres } }: TimelineEvent): string {
  if (typeof postgres !== 'object' || postgres === null) return ''
  const { erased, nodes } = postgres as { erased: boolean; nodes: readonly string[] }
  const rows = erased
    ? msg`PostgreSQL's dead rows until its vacuum`
    : msg`PostgreSQL, which has not confirmed it`
  const machines = nodes.map((node) => msg`on ${node}, which has not confirmed it`)
  return msg`. They may remain in ${[rows, msg`in its log and archives`, ...machines].join('; ')}`
}

const intrusions: Readonly<Record<string, string>> = {
  no_session: msg`not signed in`,
  setup_code_refused: msg`wrong set-up code`,
  foreign_origin: msg`from another site`,
  foreign_host: msg`by an address that is not Delegate’s`,
  bad_signature: msg`not signed by the provider`,
  socket_refused: msg`call without its token`,
  text_over_budget: msg`text of a guest over the daily limit`,
  call_over_budget: msg`call of a guest over the daily limit`,
}

function intrusionText(event: TimelineEvent): string {
  const [kind, count] = [text(event, 'kind'), number(event, 'count')]
  if (kind === 'sign_in_refused')
    return msg`Someone failed to sign in: ${plural(count, msg`wrong password or code`, msg`wrong passwords or codes`)}`
  if (kind === 'sign_in_throttled')
    return msg`${plural(count, msg`sign-in`, msg`sign-ins`)} refused after too many failures`
  return `${plural(count, msg`refused attempt`, msg`refused attempts`)}: ${intrusions[kind] ?? wordsText(kind)}`
}

function settingsText(event: TimelineEvent): string {
  const count = size(event, 'keys')
  return count === 0 ? msg`Settings changed` : msg`${plural(count, msg`setting`, msg`settings`)} changed`
}

function lossText({ payload: { fromSeq, toSeq } }: TimelineEvent): string {
  return typeof fromSeq === 'number' && typeof toSeq === 'number'
    ? msg`${plural(toSeq - fromSeq + 1, msg`earlier event`, msg`earlier events`)} lost; Delegate continued from here`
    : msg`Part of the history was lost; Delegate continued from here`
}

function salvagedText({ payload: { gaps } }: TimelineEvent): string {
  const ranges: readonly { firstSeq: number; lastSeq: number }[] = Array.isArray(gaps) ? gaps : []
  const lost = ranges.reduce((sum, { firstSeq, lastSeq }) => sum + lastSeq - firstSeq + 1, 0)
  return lost === 0
    ? msg`The history was damaged, and is restored in full`
    : msg`The history was damaged: ${plural(lost, msg`event`, msg`events`)} lost, the others are restored`
}

/** What happened, in one line. An unknown event type is shown by its name. */
export function titleOf(event: TimelineEvent): string {
  const title = titles[event.type]
  const words = title ? title(event) : wordsText(event.type)
  return capitalised(words)
}
