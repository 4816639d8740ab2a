import { html, nothing, type TemplateResult } from 'lit'
import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import { dayText, fullTimeText, momentText, plural, timeText } from '../design/format.ts'
import type { KeyedRow } from '../design/keyed-rows.ts'
import type { MenuItem } from '../design/menu.ts'
import { msg, translateSentence } from '../design/msg.ts'
import { progressOf, summaryOf } from './activity.ts'
import { effectsOf, excerptOfBranch } from './branches.ts'
import { channelSigns, type Sign, subjectIcon } from './event-icons.ts'
import { cutOf, isErased, linkOf, wordsOf } from './event-kinds.ts'
import { isTimeImplied, messageView, pendingView, previewView, talkView } from './message-view.ts'
import { reminderOf } from './reminder-states.ts'
import type { RowContext } from './row-context.ts'
import { excerptOf, type Row } from './rows.ts'
import { isOfTalk, titleOf } from './titles.ts'
import type { Segment } from './tree.ts'
import './erasure-card.ts'
import './proposal-card.ts'
import { foldButton, stepView } from './step-view.ts'

export function rowView(row: Row, isFound: boolean, context: RowContext): KeyedRow {
  const found = isFound ? ' found' : ''
  const replaced = row.replaced === true ? ' replaced' : ''
  return {
    key: row.key,
    className: `row ${row.kind}-row${found}${replaced}`,
    content: contentView(row, context),
  }
}

function contentView(row: Row, context: RowContext): TemplateResult {
  switch (row.kind) {
    case 'day':
      return html`<h2 class="beside soft day"><time datetime=${row.at}>${dayText(row.at)}</time></h2>`
    case 'span':
      return spanView(row.segment, row.open, context)
    case 'message':
      return messageView(row.message, row.segment, context)
    case 'activity':
      return activityView(row, context)
    case 'branch':
      return branchView(row, context)
    case 'step':
      return stepView(row.step, row.open, row.key, context)
    case 'failure':
      return failureView(row.event, context)
    case 'notice':
      return noticeView(row.event, row.segment, context)
    case 'proposal':
      return proposalView(row, context)
    case 'boundary':
      return html`<p class="beside tiny boundary"><span>${titleOf(row.event)}</span></p>`
    case 'talk':
      return talkView(row.line, context)
    case 'preview':
      return previewView(row.preview, context)
    case 'pending':
      return pendingView(row.pending, context)
  }
}

function channelOf(segment: Segment): Sign {
  if (segment.kind === 'activation') return channelSigns.inner
  if (segment.kind === 'delivery') {
    return isTask(segment) ? { name: msg`Task`, icon: 'tool' } : { name: msg`Delivery`, icon: 'bell' }
  }
  if (eventsOf(segment).some(isOfTalk)) return { name: msg`Talk`, icon: 'talk' }
  return channelSigns[segment.channel ?? 'chat'] ?? channelSigns.chat
}

/** Whether a delivery span is about a task: its work, or the delivery of its outcome. */
function isTask(segment: Segment): boolean {
  return eventsOf(segment).some(
    ({ type, payload }) => type.startsWith('task.') || typeof payload.taskId === 'string',
  )
}

function eventsOf({ entries }: Segment) {
  return entries.flatMap((entry) => (entry.kind === 'activity' ? entry.events : [entry.event]))
}

function contentsText(segment: Segment): string {
  const messages = segment.entries.filter((entry) => entry.kind === 'message').length
  if (messages > 0) return plural(messages, msg`message`, msg`messages`)
  const steps = segment.entries.reduce((sum, e) => sum + (e.kind === 'activity' ? e.events.length : 1), 0)
  return plural(steps, msg`step`, msg`steps`)
}

function spanView(segment: Segment, open: boolean, context: RowContext): TemplateResult {
  const { name, icon } = channelOf(segment)
  const excerpt = open ? '' : excerptOf(segment)
  // Same heading level as the day, because the day's row is often not rendered.
  return html`<h2 class="beside span ${segment.channel ?? ''}">
    ${foldButton(
      segment.key,
      open,
      context,
      html`<time datetime=${segment.at} title=${fullTimeText(segment.at)}>${timeText(segment.at)}</time>
      <span class="badge"><dg-icon name=${icon}></dg-icon>${name}</span>
      ${segment.continued ? html`<span class="faint">${msg`continued`}</span>` : nothing}
      ${segment.kind === 'call' && segment.closedReason === null ? html`<span class="live">${msg`live`}</span>` : nothing}
      ${
        open
          ? nothing
          : html`<span class="excerpt">${excerpt}</span><span class="faint">${contentsText(segment)}</span>`
      }`,
    )}
    ${spanToolsView(segment, open, context)}
  </h2>`
}

function spanToolsView(segment: Segment, open: boolean, context: RowContext): TemplateResult {
  const items: MenuItem[] = [
    { label: open ? msg`Fold` : msg`Unfold`, icon: 'chevron', run: () => context.toggle(segment.key) },
    { label: msg`Erase exchange…`, icon: 'trash', danger: true, run: () => context.eraseSpan(segment) },
  ]
  return html`<span class="tools">
    <dg-menu
      label=${msg`More for this exchange`}
      .reachable=${context.tabindex === 0}
      .items=${items}
    ></dg-menu>
  </span>`
}

function activityView(row: Extract<Row, { kind: 'activity' }>, context: RowContext): TemplateResult {
  const { activity, open, working } = row
  return html`<div class="activity">
    ${foldButton(
      activity.key,
      open,
      context,
      working
        ? html`<span class="pulse"></span><span>${progressOf(activity.events)}</span>`
        : html`<span class="summary">${summaryOf(activity.events, activity.running)}</span>`,
    )}
  </div>`
}

/** A message that the owner changed or asked again, with its answer. What it has done stays in view. */
function branchView(
  { branch, open, key }: Extract<Row, { kind: 'branch' }>,
  context: RowContext,
): TemplateResult {
  const { sameWords } = branch
  const effects = effectsOf(branch.entries)
  return html`<div class="activity branch">
    ${foldButton(
      key,
      open,
      context,
      html`<span class="name">${sameWords ? msg`Earlier answer` : msg`Earlier version`}</span>
      ${open ? nothing : html`<span class="excerpt">${excerptOfBranch(branch)}</span>`}`,
    )}
    ${
      effects.length === 0
        ? nothing
        : html`<p class="effects">
            ${sameWords ? msg`Done before you asked again:` : msg`Done before you changed it:`}
            ${effects.map((event, index) => html`${index === 0 ? '' : ' · '}${effectView(event, context)}`)}
          </p>`
    }
  </div>`
}

function effectView(event: TimelineEvent, { tabindex }: RowContext): TemplateResult | string {
  const link = linkOf(event)
  return link === null ? titleOf(event) : html`<a href=${link} tabindex=${tabindex}>${titleOf(event)}</a>`
}

function failureView(event: TimelineEvent, context: RowContext): TemplateResult {
  const stopped = event.payload.kind === 'stopped'
  const words = isErased(event) ? msg`Erased` : translateSentence(wordsOf(event)) || titleOf(event)
  const { tabindex } = context
  if (stopped)
    return html`<p class="beside notice" data-focus tabindex=${tabindex}>${msg`Stopped before an answer`}</p>`
  return html`<div class="callout failure" data-focus tabindex=${tabindex}>
    <dg-icon name="warning"></dg-icon>
    <div>
      <p>${words}</p>
      ${
        event.payload.kind === 'allowance'
          ? html`<button class="button small" tabindex=${tabindex} @click=${() => context.allowMore(event)}>
              <dg-icon name="money"></dg-icon>${msg`Allow another $5 and try again`}
            </button>`
          : nothing
      }
      <button class="button small" tabindex=${tabindex} @click=${() => context.resend(event)}>
        <dg-icon name="retry"></dg-icon>${msg`Try again`}
      </button>
    </div>
  </div>`
}

function proposalView({ proposal }: Extract<Row, { kind: 'proposal' }>, context: RowContext): TemplateResult {
  return html`<dg-proposal
    data-focus
    tabindex=${context.tabindex}
    .proposal=${proposal.event}
    .word=${proposal.word}
    .outcome=${proposal.outcome}
    .cut=${cutOf(proposal.event) !== null}
    .showAll=${context.showAll}
    .reachable=${context.tabindex === 0}
    .app=${context.app}
  ></dg-proposal>`
}

function noticeView(event: TimelineEvent, segment: Segment | null, context: RowContext): TemplateResult {
  const pending = pendingErasure(event, context)
  if (pending !== null && event.turnId !== null) return erasureCardView(event, context)
  const implied = isTimeImplied(event, segment) ? 'implied' : ''
  const icon = subjectIcon(event.type) ?? 'done'
  const { tabindex } = context
  const link = linkOf(event)
  const reminder = event.type === 'timer.fired' ? 'reminder' : ''
  return html`<p class="beside notice ${reminder}" data-focus tabindex=${tabindex}>
    <dg-icon name=${icon}></dg-icon>
    <span class="actions line">
    ${
      link === null
        ? html`<span class="title">${titleOf(event)}</span>`
        : html`<a class="title" href=${link} tabindex=${tabindex}>${titleOf(event)}</a>`
    }
    ${isErased(event) ? html`<span class="erased">${msg`erased`}</span>` : nothing}
    ${reminderView(event, context)}
    ${
      pending === null
        ? nothing
        : html`<button class="button small undo" tabindex=${tabindex} @click=${() => context.undoErasure(pending)}>
            ${msg`Undo`}
          </button>`
    }
    <time class=${implied} datetime=${event.at} title=${fullTimeText(event.at)}>${timeText(event.at)}</time></span>
  </p>`
}

/** What became of a reminder, or the buttons that settle it while it is open. */
function reminderView(event: TimelineEvent, context: RowContext) {
  const reminder = reminderOf(event)
  if (reminder === null) return nothing
  const state = context.reminderState(event)
  switch (state.kind) {
    case 'over':
      return nothing
    case 'done':
      return html`<span class="soft state">${msg`Done`}</span>`
    case 'snoozed':
      return html`<span class="soft state">${msg`Snoozed until ${momentText(state.until)}`}</span>`
    case 'open':
      return html`<span class="beside settle"
        ><button
          class="button small"
          tabindex=${context.tabindex}
          aria-label=${msg`Done: ${wordsOf(event)}`}
          @click=${() => context.tickOff(reminder)}
        >
          <dg-icon name="check"></dg-icon>${msg`Done`}
        </button>
        <dg-menu
          text=${msg`Snooze`}
          label=${msg`Snooze: ${wordsOf(event)}`}
          .reachable=${context.tabindex === 0}
          .items=${context.snoozeItems(reminder)}
        ></dg-menu
      ></span>`
  }
}

/** The id of the erasure that the event requests, if it can still be undone. */
function pendingErasure({ type, payload }: TimelineEvent, context: RowContext): string | null {
  const { erasureId, eraseAt } = payload
  if (type !== 'erasure.requested' || typeof erasureId !== 'string') return null
  if (Date.parse(String(eraseAt)) <= Date.now() || !context.isErasurePending(erasureId)) return null
  return erasureId
}

/** The plan of an erasure requested in conversation, which the owner has not seen before. */
function erasureCardView(event: TimelineEvent, context: RowContext): TemplateResult {
  return html`<dg-erasure-card
    data-focus
    tabindex=${context.tabindex}
    .event=${event}
    .app=${context.app}
    .undo=${context.undoErasure}
    .reachable=${context.tabindex === 0}
  ></dg-erasure-card>`
}

/** Estimated height of a row in pixels, until it is rendered and measured. */
export function estimateRow(row: Row, widthPx: number): number {
  if (row.kind !== 'message') return 44
  const lineChars = Math.max(30, Math.min(widthPx - 40, 736) / 7.4)
  return 62 + 23 * Math.max(1, Math.ceil(wordsOf(row.message.event).length / lineChars))
}
