import { html, nothing, type TemplateResult } from 'lit'
import { guard } from 'lit/directives/guard.js'
import type { TalkLine } from '../../../src/http/contract/calls.ts'
import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import { fullTimeText, plural, timeText, wordsText } from '../design/format.ts'
import { iconButton, labelButton } from '../design/icon-button.ts'
import type { MenuItem } from '../design/menu.ts'
import { msg } from '../design/msg.ts'
import { cutOf, isErased, isIncomplete, isRedacted, wordsOf } from './event-kinds.ts'
import type { RowContext } from './row-context.ts'
import type { Pending, Preview } from './rows.ts'
import { showAllButton } from './step-view.ts'
import type { Message, Segment } from './tree.ts'

const queuedText = msg`queued, waiting for the reply above`
const authors = { owner: msg`You`, delegate: 'Delegate', guest: msg`Guest` } as const

/** What the service reads aloud. */
const spokenTypes = new Set(['chat.reply.sent', 'chat.reply.stopped', 'call.reply.spoken', 'sms.sent'])

/** Whether the heading of the exchange already shows this time, so that the message need not. */
export function isTimeImplied(event: TimelineEvent, segment: Segment | null): boolean {
  return segment?.spanId != null && timeText(segment.at) === timeText(event.at)
}

/** A message: the delegate's rendered as inert markdown, all others as typed. */
export function messageView(message: Message, segment: Segment | null, context: RowContext): TemplateResult {
  const { event, role } = message
  const from = event.payload.from
  const implied = isTimeImplied(event, segment) ? 'implied' : ''
  const author = role === 'guest' && typeof from === 'string' ? msg`Guest ${from}` : authors[role]
  const heading = role === 'guest' ? author : recipientOf(event, segment)
  return html`
    <article
      class="message ${role} ${message.waiting ? 'queued' : ''}"
      data-focus
      tabindex=${context.tabindex}
      aria-label="${author}, ${message.waiting ? queuedText : timeText(event.at)}"
    >
      ${heading === null ? nothing : html`<div class="author">${heading}</div>`}
      <div class="words">${wordsView(message, context)}</div>
      ${showAllButton(event, context)} ${answerButton(message, context)}
      <footer class="beside tiny">
        <time class=${implied} datetime=${event.at} title=${fullTimeText(event.at)}>${timeText(event.at)}</time>
        ${message.waiting ? html`<span title=${msg`Waiting for the reply above`}>${msg`Queued`}</span>` : qualifierView(event)}
        ${sendAgainButton(event, context)} ${askAgainButton(event, context)} ${barredView(event, context)}
        ${toolsView(message, segment, context)}
      </footer>
    </article>
  `
}

/** The recipient of a text; null among the owner's own texts, where it is obvious. */
function recipientOf({ type, payload }: TimelineEvent, segment: Segment | null): string | null {
  if (!['sms.sent', 'sms.failed', 'sms.undelivered'].includes(type)) return null
  if (payload.party === 'owner')
    return segment?.channel === 'sms' && segment.spanId !== null ? null : msg`Text to you`
  return typeof payload.to === 'string' ? msg`Text to ${payload.to}` : msg`Text`
}

/** What is shown of a message: the whole text of an unfolded long answer. */
export function shownWords({ event, answerNoteId }: Message, answers: ReadonlyMap<string, string>): string {
  return answers.get(answerNoteId ?? '') ?? wordsOf(event)
}

/** A button that shows the whole of a long answer in place of its beginning, and back. */
function answerButton(
  { event, answerNoteId }: Message,
  { answers, toggleAnswer }: RowContext,
): TemplateResult | typeof nothing {
  if (answerNoteId === null || isErased(event)) return nothing
  const open = answers.has(answerNoteId)
  return html`<button class="button small show-all" aria-expanded=${open} @click=${() => toggleAnswer(answerNoteId)}>
    ${open ? msg`Show only the beginning` : msg`Show the whole answer`}
  </button>`
}

function wordsView(message: Message, context: RowContext): unknown {
  const { event, role } = message
  if (isErased(event)) return html`<p class="erased"><dg-icon name="erased"></dg-icon>${msg`Erased`}</p>`
  const words = shownWords(message, context.answers)
  if (words.trim() === '')
    return html`<p class="erased">${isEmptyReply(event) ? msg`The model gave no answer.` : msg`No text`}</p>`
  const shown = cutOf(event) ? `${words}…` : words
  return role === 'delegate'
    ? html`<div class="prose">${guard([shown], () => context.markdown(shown))}</div>`
    : html`<p class="typed">${shown}</p>`
}

/** What the words alone do not show, such as an interruption or a failed delivery. */
function qualifierView(event: TimelineEvent): TemplateResult | typeof nothing {
  if (isRedacted(event)) return html`<span>${msg`partly erased`}</span>`
  const { type, payload } = event
  if (isIncomplete(event)) return html`<span>${msg`incomplete`}</span>`
  if (type === 'chat.reply.stopped') return html`<span>${msg`stopped by you`}</span>`
  if (type === 'call.reply.spoken' && payload.interrupted === true)
    return html`<span>${msg`interrupted`}</span>`
  if (type === 'sms.failed' && payload.kind === 'unknown')
    return html`<span class="bad">${msg`may not have been sent: the provider did not respond, so it is not retried`}</span>`
  if (type === 'sms.undelivered')
    return html`<span class="bad">${msg`not delivered${codeText(payload.providerCode)}`}</span>`
  if (type === 'sms.failed')
    return html`<span class="bad">${msg`not sent: ${wordsText(String(payload.kind))}`}</span>`
  if (type === 'sms.received') return attachmentsView(payload.mediaTypes)
  if (type === 'sms.ignored' && payload.reason === 'halt') return html`<span>${msg`halts Delegate`}</span>`
  if (type === 'sms.ignored')
    return html`<span>${msg`not answered: ${wordsText(String(payload.reason))}`}</span>`
  return nothing
}

/** "Don't keep this": still readable here, and erased or kept after all with one click. */
function barredView(event: TimelineEvent, context: RowContext): TemplateResult | typeof nothing {
  if (isErased(event) || !context.isBarred(event.seq)) return nothing
  return html`<span>${msg`not kept in memory`}</span>
    ${labelButton('brain', msg`Keep`, () => context.keepMessage(event))}
    ${labelButton('trash', msg`Erase`, () => context.eraseEvent(event))}`
}

function sendAgainButton(
  { type, payload }: TimelineEvent,
  context: RowContext,
): TemplateResult | typeof nothing {
  const { deliveryId } = payload
  if (type !== 'sms.failed' || typeof deliveryId !== 'string' || payload.erased === true) return nothing
  return labelButton('retry', msg`Send again`, () => context.sendTextAgain(deliveryId))
}

/** Like a failure, an empty answer offers to ask again without looking for it. */
function askAgainButton(event: TimelineEvent, context: RowContext): TemplateResult | typeof nothing {
  if (!isEmptyReply(event) || !context.mayAskAgain(event)) return nothing
  return labelButton('retry', msg`Try again`, context.askAgain)
}

function isEmptyReply(event: TimelineEvent): boolean {
  return event.type === 'chat.reply.sent' && !isErased(event) && wordsOf(event).trim() === ''
}

/** Attachments are not fetched, so only their number and types are known. */
function attachmentsView(mediaTypes: unknown): TemplateResult | typeof nothing {
  if (!Array.isArray(mediaTypes) || mediaTypes.length === 0) return nothing
  return html`<span
    >${msg`with ${plural(mediaTypes.length, msg`attachment`, msg`attachments`)}, not opened:`} ${mediaTypes.map(String).join(', ')}</span
  >`
}

function codeText(code: unknown): string {
  return typeof code === 'number' ? msg` (provider error ${code})` : ''
}

function toolsView(
  message: Message,
  segment: Segment | null,
  context: RowContext,
): TemplateResult | typeof nothing {
  const { event, role } = message
  if (isErased(event)) return nothing
  const { turnId } = event
  const copy = () => context.copy(shownWords(message, context.answers))
  const change = changeOf(event, context)
  const items: MenuItem[] = [
    { label: msg`Copy`, icon: 'copy', run: copy },
    { label: msg`Copy link`, icon: 'link', run: () => context.copyLink(event) },
    ...(change ? [change] : []),
    ...(spokenTypes.has(event.type)
      ? [{ label: msg`Read aloud`, icon: 'speaker', run: () => context.readAloud(event) } as const]
      : []),
    ...(role === 'delegate' && turnId !== null
      ? [{ label: msg`Why this reply`, icon: 'help', run: () => context.explainTurn(turnId) } as const]
      : []),
    ...(segment !== null && segment.spanId !== null
      ? [{ label: msg`Fold exchange`, icon: 'chevron', run: () => context.fold(segment) } as const]
      : []),
    { label: msg`Erase…`, icon: 'trash', danger: true, run: () => context.eraseEvent(event) },
  ]
  return html`<span class="tools">
    ${
      change
        ? iconButton(change.icon, change.label, change.run, 'quiet small', change.label, context.tabindex)
        : nothing
    }
    ${iconButton('copy', msg`Copy message`, copy, 'quiet small', msg`Copy`, context.tabindex)}
    <dg-menu label=${msg`More for this message`} .items=${items} .reachable=${context.tabindex === 0}></dg-menu>
  </span>`
}

/** What the owner can do about their last message, or the reply to it; null for any other. */
function changeOf(event: TimelineEvent, context: RowContext): MenuItem | null {
  if (context.mayEdit(event)) return { label: msg`Edit`, icon: 'edit', run: () => context.edit() }
  if (!context.mayAskAgain(event) || isEmptyReply(event)) return null
  return { label: msg`Try again`, icon: 'retry', run: () => context.askAgain() }
}

/** A reply in progress. */
export function previewView(preview: Preview, context: RowContext): TemplateResult {
  return html`
    <article class="message delegate" aria-label=${msg`Delegate, writing`} aria-busy="true">
      ${
        preview.text === ''
          ? html`<p class="beside soft thinking"><span class="pulse"></span>${msg`Thinking…`}</p>`
          : html`<div class="words writing"><div class="prose">${guard([preview.text], () => context.markdown(preview.text))}</div></div>`
      }
      <footer></footer>
    </article>
  `
}

/** Live words of a call; for the delegate, only those that the caller has heard. */
export function talkView({ by, text }: TalkLine, context: RowContext): TemplateResult {
  const role = by === 'delegate' ? 'delegate' : context.callParty
  return html`
    <article class="message ${role}" aria-label=${msg`${authors[role]}, speaking`} aria-busy="true">
      ${role === 'guest' ? html`<div class="author">${authors.guest}</div>` : nothing}
      <div class="words">
        <p class="typed">${text ?? html`<span class="beside soft thinking"><span class="pulse"></span>${msg`Listening…`}</span>`}</p>
      </div>
      <footer></footer>
    </article>
  `
}

/** A message from this tab that the service has not confirmed. */
export function pendingView(pending: Pending, context: RowContext): TemplateResult {
  const failed = pending.status === 'failed' || pending.status === 'unanswered'
  const state = {
    waiting: msg`Waiting for the connection…`,
    sent: msg`Sending…`,
    unanswered: msg`Not sent. No answer from the service yet.`,
    failed: msg`Not sent.`,
  }[pending.status]
  return html`
    <article class="message owner pending" aria-label=${msg`You, ${state}`}>
      <div class="words"><p class="typed">${pending.text}</p></div>
      <footer class="beside tiny">
        <span class=${failed ? 'bad' : ''}>${state} ${failed ? pending.reason : ''}</span>
        ${
          failed
            ? html`${labelButton('retry', msg`Try again`, () => context.retry(pending.clientMessageId))}
                <button class="button quiet small" @click=${() => context.discard(pending.clientMessageId)}>
                  ${msg`Discard`}
                </button>`
            : nothing
        }
      </footer>
    </article>
  `
}
