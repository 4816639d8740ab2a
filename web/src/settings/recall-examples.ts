import { css, html, nothing, type TemplateResult } from 'lit'
import type { RecallExample } from '../../../src/http/contract/memories.ts'
import { type Loaded, loadedView } from '../app/loaded.ts'
import { plural } from '../design/format.ts'
import { msg } from '../design/msg.ts'

export const recallExamplesStyles = css`
  .examples {
    margin-top: var(--space-3);
  }
  .examples > li {
    padding-block: var(--space-3);
    border-top: 1px solid var(--line);
    overflow-wrap: anywhere;
  }
  .examples li p {
    unicode-bidi: plaintext;
  }
  .examples .asked {
    font-weight: 550;
  }
  .examples .dropped > :last-child {
    color: var(--ink-faint);
  }
`

type Thresholds = { readonly chosen: number; readonly current: number }

/** What recall would show for the owner's last messages at the chosen threshold, compared with the current one. */
export function recallExamplesView(
  examples: Loaded<readonly RecallExample[]>,
  thresholds: Thresholds,
): TemplateResult {
  return loadedView(examples, msg`the examples`, (all) =>
    all.length === 0
      ? html`<p class="soft">${msg`Send a message, and it becomes an example here.`}</p>`
      : html`
            <p class="soft" role="status">${summary(all, thresholds)}</p>
            <ul class="list examples" aria-label=${msg`Examples`}>
              ${all.map((example) => exampleView(example, thresholds))}
            </ul>
          `,
  )
}

function shownAt({ steps }: RecallExample, threshold: number): readonly number[] {
  return steps.findLast(({ from }) => from <= threshold)?.seqs ?? []
}

/** The lines shown at either threshold, each with the change. */
function linesOf(example: RecallExample, { chosen, current }: Thresholds) {
  const [shown, before] = [shownAt(example, chosen), shownAt(example, current)]
  return example.lines.flatMap(({ seq, text }) => {
    const [isShown, wasShown] = [shown.includes(seq), before.includes(seq)]
    if (!isShown && !wasShown) return []
    return [
      { text, change: isShown && wasShown ? null : isShown ? ('added' as const) : ('dropped' as const) },
    ]
  })
}

function summary(all: readonly RecallExample[], thresholds: Thresholds): string {
  const lines = all.flatMap((example) => linesOf(example, thresholds))
  const count = (wanted: 'added' | 'dropped') => lines.filter(({ change }) => change === wanted).length
  const [added, dropped] = [count('added'), count('dropped')]
  const total = msg`${plural(lines.length - dropped, msg`line`, msg`lines`)} for your last ${plural(all.length, msg`message`, msg`messages`)}`
  return thresholds.chosen === thresholds.current
    ? `${total}.`
    : msg`${total}: ${added} added and ${dropped} dropped compared with now.`
}

function exampleView(example: RecallExample, thresholds: Thresholds): TemplateResult {
  const lines = linesOf(example, thresholds)
  return html`<li>
    <p class="asked clamped">${example.text}</p>
    ${lines.length === 0 ? html`<p class="soft">${msg`Nothing shown`}</p>` : nothing}
    <ul class="list">
      ${lines.map(
        ({ text, change }) => html`<li class="soft ${change ?? ''}">
          ${change === null ? nothing : html`<span class="tag ${change === 'added' ? 'on' : ''}">${change === 'added' ? msg`added` : msg`dropped`}</span>`}
          <span>${text}</span>
        </li>`,
      )}
    </ul>
  </li>`
}
