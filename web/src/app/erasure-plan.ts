import { css, html, nothing, type TemplateResult } from 'lit'
import type { PlanGroup, PlanGroups } from '../../../src/http/contract/erasures.ts'
import { countText, shortDateText } from '../design/format.ts'
import { msg } from '../design/msg.ts'
import { kindText } from '../timeline/erasure-kinds.ts'

export const planStyles = css`
  .subhead:first-of-type {
    margin-top: 0;
  }
  .groups {
    border: 1px solid var(--line);
    border-radius: var(--radius-md);
    background: var(--surface);
    overflow: clip;
  }
  .group + .group {
    border-top: 1px solid var(--line);
  }
  summary,
  .count {
    padding: var(--space-2) var(--space-3);
    font-weight: 500;
  }
  summary {
    cursor: pointer;
  }
  summary:focus-visible {
    outline-offset: -2px;
  }
  .group ul {
    gap: var(--space-2);
    padding: 0 var(--space-3) var(--space-3);
    overflow-wrap: anywhere;
  }
  .group time {
    display: block;
  }
  .group .after {
    display: block;
    color: var(--ink-faint);
  }
`

/** Groups of at most this many named things start open. */
const OPEN_ITEMS = 3

/** What an erasure takes along, and what mentions it and is kept. */
export function planView({ named, derived, stays }: PlanGroups): TemplateResult {
  return html`
    ${groupsView(msg`Will be erased`, named, true)}
    ${groupsView(msg`Also erased: copied or learned from it`, derived)}
    ${groupsView(msg`Will be kept`, stays)}
  `
}

function groupsView(
  heading: string,
  groups: readonly PlanGroup[],
  isNamed = false,
): TemplateResult | typeof nothing {
  if (groups.length === 0) return nothing
  return html`<h3 class="subhead">${heading}</h3>
    <div class="groups">${groups.map((group) => groupView(group, isNamed && group.count <= OPEN_ITEMS))}</div>`
}

function groupView({ kind, count, items }: PlanGroup, open: boolean): TemplateResult {
  const heading = kindText(kind, count)
  if (items.length === 0) return html`<div class="group"><div class="count">${heading}</div></div>`
  const rest = count - items.length
  return html`<details class="group" ?open=${open}>
    <summary>${heading}</summary>
    <ul class="list soft">
      ${items.map(
        ({ at, text, after }) =>
          html`<li>
            ${text}${after === undefined ? nothing : html`<span class="after">${msg`Becomes: ${after}`}</span>`}
            <time class="tiny" datetime=${at}>${shortDateText(at)}</time>
          </li>`,
      )}
      ${rest > 0 ? html`<li>${msg`and ${countText(rest)} more`}</li>` : nothing}
    </ul>
  </details>`
}
