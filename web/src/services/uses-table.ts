import { css, html, nothing, type TemplateResult } from 'lit'
import type { Setting } from '../../../src/http/contract/settings.ts'
import {
  builtinId,
  builtinModel,
  type ModelUse,
  type Services,
  serviceTitle,
  type UsedModel,
  type UseRow,
  uses,
} from './service-words.ts'

export type UseActions = {
  readonly change: (row: UseRow, current: UsedModel) => void
  readonly reset: (row: UseRow) => void
}

/** What a model is used for, and which service and model do it. */
export function usesTable(
  services: Services,
  settings: readonly Setting[],
  actions: UseActions,
): TemplateResult {
  const current = (use: ModelUse) => services.uses.find((each) => each.use === use)
  return html`<table class="uses" aria-label="What each model is used for">
    <thead>
      <tr>
        <th scope="col">For</th><th scope="col">Service</th><th scope="col">Model</th>
        <th scope="col"><span class="visually-hidden">Change</span></th>
      </tr>
    </thead>
    <tbody>
      ${uses.map((row) => {
        const use = current(row.use)
        return use === undefined ? nothing : rowView(row, use, services, settings, actions)
      })}
    </tbody>
  </table>`
}

function rowView(
  row: UseRow,
  use: UsedModel,
  services: Services,
  settings: readonly Setting[],
  actions: UseActions,
): TemplateResult {
  const { title, about, without, keys } = row
  const own = settings.filter(({ key }) => keys.includes(key))
  const source = own.find(({ key }) => key === keys[1])?.source
  return html`<tr class=${use.model === null ? 'none' : ''}>
    <th scope="row">
      ${title}
      <p class="soft">${about}</p>
      <p class="origin">
        ${source === 'stored' ? html`<span class="tag on">Set here</span>` : nothing}
        ${source === 'environment' ? html`<span class="tag">From the environment</span>` : nothing}
        ${keys.map((key) => html`<code>${key}</code>`)}
        ${
          own.some((setting) => setting.source === 'stored')
            ? html`<button class="link" type="button" aria-label="Reset ${title}" @click=${() => actions.reset(row)}>
                Reset
              </button>`
            : nothing
        }
      </p>
    </th>
    <td>${use.model === null ? '' : serviceTitle(services, use.model === builtinModel ? builtinId : use.service)}</td>
    <td>
      ${use.model}
      ${use.available ? nothing : html`<p class="soft">${use.model === null ? 'None.' : 'Not available.'} ${without}</p>`}
    </td>
    <td>
      <button class="button small" type="button" aria-label="Change the model for ${title}" @click=${() => actions.change(row, use)}>
        Change
      </button>
    </td>
  </tr>`
}

export const usesTableStyles = css`
  .uses {
    width: 100%;
    border-collapse: collapse;
  }
  .uses th,
  .uses td {
    padding: var(--space-3) 0 var(--space-3) var(--space-4);
    border-top: 1px solid var(--line);
    font-weight: 400;
    text-align: start;
    vertical-align: top;
    overflow-wrap: anywhere;
  }
  .uses :is(th, td):first-child {
    padding-inline-start: 0;
  }
  .uses thead th {
    padding-block: var(--space-2);
    border: 0;
    color: var(--ink-soft);
    font-size: var(--text-sm);
  }
  .uses tbody th {
    width: 42%;
    font-weight: 550;
  }
  .uses tbody td:nth-child(2) {
    min-width: 9.5rem;
  }
  .uses th > p {
    font-weight: 400;
  }
  .uses td:last-child {
    width: 1%;
    white-space: nowrap;
  }
  .origin {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 0.2rem var(--space-2);
    margin-top: var(--space-1);
    color: var(--ink-faint);
    font-size: var(--text-xs);
  }
  .origin code {
    font-family: var(--font-mono);
  }
  @media (max-width: 44rem) {
    .uses thead {
      display: none;
    }
    .uses :is(tbody, th, td) {
      display: block;
      width: auto;
    }
    .uses tr {
      display: grid;
      grid-template-columns: minmax(0, 1fr) auto;
      align-items: center;
      gap: 0 var(--space-3);
      padding: var(--space-3) 0;
      border-top: 1px solid var(--line);
    }
    .uses tr:first-child {
      border: 0;
    }
    .uses :is(th, td) {
      padding: 0;
      border: 0;
    }
    .uses tbody th {
      grid-column: 1 / -1;
      width: auto;
      margin-bottom: var(--space-2);
    }
    .uses td:nth-child(2) {
      grid-row: 3;
      color: var(--ink-soft);
      font-size: var(--text-sm);
    }
    .uses td:nth-child(3) {
      grid-row: 2;
    }
    .uses .none td:nth-child(2) {
      display: none;
    }
    .uses td:last-child {
      grid-area: 2 / 2 / span 2;
      width: auto;
    }
    .uses .none td:last-child {
      grid-row: 2;
    }
  }
`
