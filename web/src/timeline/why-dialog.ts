import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import type { Adaptation } from '../../../src/http/contract/adaptations.ts'
import type { TurnReport } from '../../../src/http/contract/session.ts'
import { DialogElement } from '../app/dialog-element.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import {
  countText,
  dollarsText,
  durationText,
  plural,
  prettyJson,
  shortDateText,
  wordsText,
} from '../design/format.ts'
import { msg } from '../design/msg.ts'
import { usageText } from './context-words.ts'
import { memoryViews } from './why-memories.ts'

/** Explains a reply: what its turn was given, what it did and what it cost. */
@customElement('dg-why-dialog')
export class DgWhyDialog extends DialogElement {
  static override readonly styles = css`
    section {
      margin-top: var(--space-4);
    }
    ul {
      gap: var(--space-1);
    }
    li {
      overflow-wrap: anywhere;
    }
    .memory {
      gap: 0 var(--space-2);
    }
    .what {
      flex-basis: 12rem;
    }
    .memory > .actions {
      margin-inline-start: auto;
    }
    .label {
      margin-inline-start: var(--space-1);
      color: var(--ink-soft);
      font-weight: 400;
    }
    summary {
      min-height: 1.75rem;
      cursor: pointer;
    }
    .failed,
    .refused {
      color: var(--danger);
    }
    pre {
      max-height: 14rem;
      margin: var(--space-1) 0 var(--space-2);
      font-size: var(--text-xs);
    }
  `
  @property() turnId!: string
  private readonly loaded = new Loaded(this, {
    fetch: async () => {
      const turn = await this.app.http.get('/api/turns/{id}', { params: { id: this.turnId } })
      const instructions = turn.adaptations.length > 0 ? await this.app.http.get('/api/adaptations') : null
      return { turn, instructions: instructions?.adaptations ?? [] }
    },
  })

  override render() {
    return html`<dg-dialog heading=${msg`Why this reply`} wide>
      ${loadedView(this.loaded, msg`the reasons`, ({ turn, instructions }) =>
        reportView(turn, instructions, memoryViews(this, turn.memories, this.loaded.reload)),
      )}
    </dg-dialog>`
  }
}

/** `instructions` are the current ones, for the titles of those that the turn was given. */
function reportView(
  turn: TurnReport,
  instructions: readonly Adaptation[],
  memories: readonly TemplateResult[],
): TemplateResult {
  const bare =
    turn.memories.length + turn.suppressed.length + turn.signals.length + turn.tools.length === 0 &&
    turn.adaptations.length === 0
  return html`
    <p class="soft">
      ${turn.model === null ? msg`Not answered by a model` : msg`Answered by ${turn.model.model} (${turn.model.provider})`}${timesText(turn)}
    </p>
    ${turn.failedModels.map(
      ({ model, kind }) =>
        html`<p class="soft">${msg`${model.model} (${model.provider}) did not answer: ${failures[kind] ?? wordsText(kind)}`}</p>`,
    )}
    <p class="soft">${usageText(turn.usage)}${costText(turn.costMicros)}</p>
    ${bare ? html`<p>${msg`This reply used only the conversation and its summary.`}</p>` : nothing}
    ${section(msg`Remembered`, memories)}
    ${section(msg`Held back`, heldBack(turn.suppressed))}
    ${section(
      msg`Noticed`,
      turn.signals.map(
        ({ kind, text }) =>
          html`<li>${text ?? wordsText(kind)}<span class="label">${wordsText(kind)}</span></li>`,
      ),
    )}
    ${section(
      msg`Standing instructions`,
      turn.adaptations.map((id) => instructionView(id, instructions)),
    )}
    ${section(msg`Tools used`, turn.tools.map(toolView))} ${section(msg`Words of others it was given`, foreignViews(turn.foreign ?? []))}
    ${section(msg`Left out`, leftOutViews(turn.leftOut))}
  `
}

/** Why a model did not answer. */
const failures: Readonly<Record<string, string>> = {
  auth: msg`its key was rejected`,
  quota: msg`its quota is used up`,
  rate_limited: msg`it limits requests`,
  unavailable: msg`it is unavailable`,
  timeout: msg`it did not answer in time`,
  malformed: msg`its answer could not be read`,
  context_too_long: msg`the conversation is too long for it`,
  refused: msg`it declined`,
}

/** What a small context left no room for. */
function leftOutViews(left: TurnReport['leftOut']): readonly TemplateResult[] {
  if (left === null) return []
  const { contextTokens, messages, instructions, shortened } = left
  const lines = [
    messages > 0 ? plural(messages, msg`earlier message`, msg`earlier messages`) : null,
    instructions > 0 ? plural(instructions, msg`standing instruction`, msg`standing instructions`) : null,
    shortened > 0
      ? msg`Parts of ${plural(shortened, msg`message or result`, msg`messages or results`)}`
      : null,
  ]
  const why = html`<li class="soft">${msg`The context of the model holds ${countText(contextTokens)} tokens.`}</li>`
  return [...lines.flatMap((line) => (line === null ? [] : [html`<li>${line}</li>`])), why]
}

/** Where words came from that are not the owner's. */
const foreignKinds: Readonly<Record<string, string>> = {
  'chat.message.received': msg`Text that you pasted, or that was spoken to a device`,
  'sms.received': msg`A text message`,
  'call.utterance.heard': msg`Words spoken on the phone`,
  'call.reply.spoken': msg`An earlier reply on the phone`,
  'chat.reply.sent': msg`An earlier reply that repeats such words`,
  'chat.reply.stopped': msg`An earlier reply that repeats such words`,
  'delivery.requested': msg`An earlier reply by text message`,
  'memory.stored': msg`A memory of such words`,
  'timer.fired': msg`A reminder`,
  'timer.missed': msg`A reminder`,
  'task.finished': msg`The outcome of a task`,
  'task.failed': msg`The outcome of a task`,
  'signal.raised': msg`Something that it noticed`,
  'context.compaction.succeeded': msg`The summary of the conversation`,
}

/** One line for each kind of source, with its number. */
function foreignViews(foreign: NonNullable<TurnReport['foreign']>): readonly TemplateResult[] {
  const kinds = Map.groupBy(foreign, ({ type, tool }) =>
    tool === null ? (foreignKinds[type] ?? wordsText(type)) : msg`The tool ${wordsText(tool)}`,
  )
  return [...kinds].map(
    ([kind, items]) =>
      html`<li>${kind}${items.length > 1 ? html`<span class="label">${msg`${items.length} times`}</span>` : nothing}</li>`,
  )
}

/** The instruction's current title, or its id if it no longer exists. */
function instructionView(id: string, instructions: readonly Adaptation[]): TemplateResult {
  const known = instructions.find((instruction) => instruction.id === id)
  return known
    ? html`<li>${known.title || wordsText(id)}</li>`
    : html`<li>${wordsText(id)} <span class="label">${msg`since removed`}</span></li>`
}

/** Null for a turn that was not recorded with its cost, such as one of a call. */
function costText(micros: number | null): string {
  if (micros === null) return ''
  return micros === 0 ? msg`, free` : `, ${dollarsText(micros)}`
}

function timesText({ startedAt, completedAt }: TurnReport): string {
  if (startedAt === null) return ''
  const took =
    completedAt === null ? '' : msg`, in ${durationText(Date.parse(completedAt) - Date.parse(startedAt))}`
  return `, ${shortDateText(startedAt)}${took}`
}

function section(heading: string, items: readonly TemplateResult[]): TemplateResult | typeof nothing {
  if (items.length === 0) return nothing
  return html`<section>
    <h3 class="subhead">${heading}</h3>
    <ul class="list">
      ${items}
    </ul>
  </section>`
}

const reasons: Readonly<Record<string, string>> = {
  duplicate: msg`already in context`,
  irrelevant: msg`not relevant`,
  expired: msg`too late`,
  budget: msg`token budget exhausted`,
}

/** Counts by reason only, because these memories were no part of the reply. */
function heldBack(suppressed: TurnReport['suppressed']): readonly TemplateResult[] {
  const counts = Map.groupBy(suppressed, ({ reason }) => reason)
  return [...counts].map(
    ([reason, items]) => html`<li>
      ${plural(items.length, msg`memory`, msg`memories`)}: ${reasons[reason] ?? wordsText(reason)}
    </li>`,
  )
}

const outcomes: Readonly<Record<string, string>> = {
  ok: msg`ok`,
  refused: msg`refused`,
  failed: msg`failed`,
}

function toolView(tool: TurnReport['tools'][number]): TemplateResult {
  const outcome = tool.outcome ?? ''
  return html`<li>
    <details>
      <summary>
        ${wordsText(tool.tool)}<span class="label ${outcome}">${outcomes[outcome] ?? msg`did not return`}</span>
        ${tool.durationMs === null ? nothing : html`<span class="label">${durationText(tool.durationMs)}</span>`}
      </summary>
      ${textView(msg`Arguments`, tool.arguments)} ${textView(msg`Result`, tool.result)}
    </details>
  </li>`
}

function textView(label: string, text: string | null): TemplateResult {
  if (text === null) return html`<p class="soft">${msg`${label}: erased or missing`}</p>`
  return html`<p class="soft">${label}</p>
    <pre tabindex="0">${prettyJson(text)}</pre>`
}
