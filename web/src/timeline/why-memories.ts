import { html, nothing, type TemplateResult } from 'lit'
import type { TurnReport } from '../../../src/http/contract/session.ts'
import type { AppElement } from '../app/app-element.ts'
import { shortDateText } from '../design/format.ts'
import { msg } from '../design/msg.ts'
import { askToForget } from '../memories/forget-memory.ts'
import { writeMemory } from '../memories/memory-dialog.ts'

type Given = TurnReport['memories'][number]

/** The memories that a turn was given, each of which the owner can correct or forget. */
export function memoryViews(
  host: AppElement,
  memories: readonly Given[],
  onChange: () => void,
): readonly TemplateResult[] {
  return memories.map((memory) => {
    const { text, late, replacedBy } = memory
    return html`<li class="actions memory">
      <div class="what">
        ${text ?? html`<span class="soft">${msg`A memory that has since been forgotten`}</span>`}
        ${late ? html`<span class="label">${msg`found late, used in the next reply`}</span>` : nothing}
        ${
          replacedBy
            ? html`<div class="soft">
                ${msg`Now “${replacedBy.text}”, for what you say since`}
                <time datetime=${replacedBy.at}>${shortDateText(replacedBy.at)}</time>.
              </div>`
            : nothing
        }
      </div>
      ${memory.current !== false && text !== null ? actionsView(host, { ...memory, text }, onChange) : nothing}
    </li>`
  })
}

function actionsView(
  host: AppElement,
  memory: { readonly id: string; readonly text: string },
  onChange: () => void,
): TemplateResult {
  const { id, text } = memory
  return html`<div class="actions">
    <button
      class="button quiet small"
      aria-label=${msg`Correct: ${text}`}
      @click=${() => writeMemory(host, [memory], onChange)}
    >
      ${msg`Correct`}
    </button>
    <button
      class="button quiet small"
      aria-label=${msg`Forget: ${text}`}
      @click=${() => askToForget(host, id, onChange)}
    >
      ${msg`Forget`}
    </button>
  </div>`
}
