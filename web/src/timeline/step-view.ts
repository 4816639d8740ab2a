import { html, nothing, type TemplateResult } from 'lit'
import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import {
  bytesText,
  capitalised,
  dollarsText,
  durationText,
  fullTimeText,
  prettyJson,
  wordsText,
} from '../design/format.ts'
import { msg, translated } from '../design/msg.ts'
import type { Step } from './activity.ts'
import { cutOf, isErased } from './event-kinds.ts'
import type { RowContext } from './row-context.ts'

/** Fields of no interest to the owner. */
const hiddenFields = new Set(['erased', 'bytes', 'callId', 'idempotent', 'round'])

const outcomeText: Readonly<Record<string, string>> = {
  refused: msg`refused`,
  failed: msg`failed`,
  running: msg`running…`,
}

/** One line of an unfolded activity; when open, all fields of its events. */
export function stepView(step: Step, open: boolean, key: string, context: RowContext): TemplateResult {
  const outcome = outcomeText[step.outcome]
  return html`
    <div class="step-body">
      ${foldButton(
        key,
        open,
        context,
        html`${step.tool ? html`<dg-icon name="tool"></dg-icon>` : nothing}
        <span class="step-title">${step.tool ? wordsText(step.title) : step.title}</span>
        ${outcome === undefined ? nothing : html`<span class="outcome ${step.outcome}">${outcome}</span>`}
        ${step.durationMs === null ? nothing : html`<span class="faint">${durationText(step.durationMs)}</span>`}`,
      )}
      ${open ? html`<div class="detail">${step.events.map((event) => eventDetail(event, context))}</div>` : nothing}
    </div>
  `
}

function eventDetail(event: TimelineEvent, context: RowContext): TemplateResult {
  const { turnId } = event
  return html`
    <div class="actions tiny event-meta">
      <code>${event.type}</code> <span>#${event.seq}</span>
      <time datetime=${event.at}>${fullTimeText(event.at)}</time>
    </div>
    ${
      isErased(event)
        ? html`<p class="erased"><dg-icon name="erased"></dg-icon>${msg`Erased`}</p>`
        : html`<dl>${Object.entries(event.payload).map(([field, value]) => fieldView(field, value))}</dl>`
    }
    ${
      event.type === 'memory.recalled' && turnId !== null
        ? html`<button class="button small show-all" @click=${() => context.explainTurn(turnId)}>
            ${msg`Show the memories`}
          </button>`
        : nothing
    }
    ${showAllButton(event, context)}
  `
}

function fieldView(field: string, value: unknown): TemplateResult | typeof nothing {
  if (hiddenFields.has(field) || value === null || value === undefined || value === false) return nothing
  const words = typeof value === 'number' ? numberText(field, value) : valueText(value)
  if (words === '') return nothing
  return html`<div class="field-row">
    <dt>${fieldName(field)}</dt>
    <dd>${words.includes('\n') || words.length > 80 ? html`<pre tabindex="0">${words}</pre>` : words}</dd>
  </div>`
}

function numberText(field: string, value: number): string {
  if (field.endsWith('Micros')) return dollarsText(value)
  return field.endsWith('Ms') ? durationText(value) : String(value)
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return prettyJson(value)
  if (typeof value === 'boolean') return String(value)
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.join(', ')
  if (typeof value === 'object' && value !== null && 'excerpt' in value) return `${String(value.excerpt)}…`
  return JSON.stringify(value, null, 2)
}

/** "inputTokens" → "Input tokens". Drops "Ms" and "Micros", because the value shows the unit. */
function fieldName(field: string): string {
  const words = field
    .replace(/(?:Ms|Micros)$/, '')
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
  return capitalised(translated(words))
}

/** A button to load the rest of a body that was cut; nothing for a whole one. */
export function showAllButton(event: TimelineEvent, context: RowContext): TemplateResult | typeof nothing {
  const cut = cutOf(event)
  if (!cut || event.spanId === null) return nothing
  const load = async ({ currentTarget: button }: Event): Promise<void> => {
    if (!(button instanceof HTMLButtonElement)) return
    button.disabled = true
    await context.showAll(event)
    button.disabled = false
  }
  return html`<button class="button small show-all" @click=${load}>
    ${msg`Show all (${bytesText(cut.bytes)})`}
  </button>`
}

/** The button of a row that folds and unfolds something, by its key. */
export function foldButton(
  key: string,
  open: boolean,
  context: RowContext,
  content: TemplateResult,
): TemplateResult {
  return html`<button
    class="fold flat beside"
    data-focus
    tabindex=${context.tabindex}
    aria-expanded=${open}
    @click=${() => context.toggle(key)}
  >
    <dg-icon class="chevron" name="chevron"></dg-icon>
    ${content}
  </button>`
}
