import { css, html, nothing, type TemplateResult } from 'lit'
import type { Setting } from '../../../src/http/contract/settings.ts'
import { msg } from '../design/msg.ts'
import { originView, type Tag } from '../settings/origin.ts'
import {
  builtinId,
  builtinModel,
  type Services,
  serviceTitle,
  type UsedModel,
  type UseRow,
  uses,
} from './service-words.ts'

type UsesTable = {
  readonly services: Services
  readonly settings: readonly Setting[]
  readonly change: (row: UseRow, current: UsedModel) => void
  readonly reset: (row: UseRow) => void
}

/** What a model is used for, and which service and model do it. */
export function usesTable(table: UsesTable): TemplateResult {
  return html`<table class="wide-table uses" aria-label=${msg`What each model is used for`}>
    <thead>
      <tr>
        <th scope="col">${msg`For`}</th><th scope="col">${msg`Service`}</th><th scope="col">${msg`Model`}</th>
        <th scope="col"><span class="visually-hidden">${msg`Change`}</span></th>
      </tr>
    </thead>
    <tbody>
      ${uses.map((row) => {
        const current = table.services.uses.find(({ use }) => use === row.use)
        return current === undefined ? nothing : rowView(row, current, table)
      })}
    </tbody>
  </table>`
}

function rowView(row: UseRow, use: UsedModel, table: UsesTable): TemplateResult {
  const { title, about, without } = row
  return html`<tr>
    <th scope="row">
      ${title}
      <p class="soft">${about}</p>
      ${usesOrigin(row, table)}
    </th>
    <td>${use.model === null ? '' : serviceTitle(table.services, use.model === builtinModel ? builtinId : use.service)}</td>
    <td>
      ${use.model}
      ${use.available ? nothing : html`<p class="soft">${use.model === null ? msg`None.` : msg`Not available.`} ${without}</p>`}
    </td>
    <td>
      <button class="button small" type="button" data-use=${row.use} aria-label=${msg`Change the model for ${title}`} @click=${() => table.change(row, use)}>
        ${msg`Change`}
      </button>
    </td>
  </tr>`
}

function usesOrigin(row: UseRow, { settings, reset }: UsesTable): TemplateResult {
  const { title, keys } = row
  const isStored = settings.some(({ key, source }) => keys.includes(key) && source === 'stored')
  return originView(
    sourceTags(settings.filter(({ key }) => key === keys[1])),
    keys,
    isStored ? { label: msg`Reset ${title}`, run: () => reset(row) } : null,
  )
}

/** What these settings are set by, if not their defaults. */
export function sourceTags(settings: readonly Setting[]): readonly Tag[] {
  const has = (source: Setting['source']) => settings.some((setting) => setting.source === source)
  const tags: readonly (Tag | false)[] = [
    has('stored') && [msg`Set here`, 'on'],
    has('environment') && [msg`From the environment`],
  ]
  return tags.filter((tag) => tag !== false)
}

export const usesTableStyles = css`
  .uses :is(th, td) {
    overflow-wrap: anywhere;
  }
  @media (min-width: 44rem) {
    .uses :is(th, td) {
      padding: var(--space-3) 0 var(--space-3) var(--space-4);
    }
    .uses :is(th, td):first-child {
      padding-inline-start: 0;
    }
    .uses thead th {
      border: 0;
    }
    .uses tbody th {
      width: 42%;
    }
    .uses tbody td:nth-child(2) {
      min-width: 9.5rem;
    }
    .uses td:last-child {
      width: 1%;
      white-space: nowrap;
    }
  }
  @media (max-width: 44rem) {
    .uses tr {
      padding: var(--space-3) 0;
    }
    .uses th,
    .uses td:nth-child(3) {
      margin-bottom: var(--space-2);
    }
  }
`
