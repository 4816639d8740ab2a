import { html, nothing, type TemplateResult } from 'lit'
import type { Setting } from '../../../src/http/contract/settings.ts'
import { fieldError } from '../design/field.ts'
import { msg } from '../design/msg.ts'
import { controlView, type Editing, settingOrigin, valueText } from './setting-row.ts'

/** What each right means, in full. */
const meanings: Readonly<Record<string, string>> = {
  read: msg`Answers questions, and learns from what you say. Makes and changes nothing else.`,
  note: msg`Also makes notes, reminders and memories, adds to notes, snoozes or ticks off due reminders, and texts you. The rest waits for you in the browser.`,
  change: msg`Also changes or deletes notes and reminders, once you press 1. The rest waits in the browser.`,
  everything: msg`Also forgets, texts others and runs tasks, once you press 1.`,
}

/** The rights of each way in, as one table: the browser first, then a row for each setting. */
export function rightsTable(settings: readonly Setting[], editing: Editing): TemplateResult {
  return html`<table class="wide-table rights" aria-label=${msg`What each way in may do`}>
    <thead>
      <tr><th scope="col">${msg`Way in`}</th><th scope="col">${msg`May do`}</th></tr>
    </thead>
    <tbody>
      <tr>
        <th scope="row">${msg`Browser`}<p class="soft">${msg`Where you are signed in.`}</p></th>
        <td>
          <p class="fixed">${msg`Everything`}</p>
          <p class="soft">${msg`What you type yourself is done at once. What other words suggest waits for you.`}</p>
        </td>
      </tr>
      ${settings.map((setting) => rowView(setting, editing))}
    </tbody>
  </table>`
}

function rowView(setting: Setting, editing: Editing): TemplateResult {
  const { key, title, description } = setting
  const draft = editing.drafts.get(key)
  return html`<tr class=${draft === undefined ? nothing : 'changed'}>
    <th scope="row">
      <label for=${key}>${title}</label>
      <p class="soft" id="${key}-about">${description}</p>
      ${settingOrigin(setting, editing)}
    </th>
    <td>
      ${controlView(setting, editing)}
      <p class="soft">${meanings[draft ?? valueText(setting)]}</p>
      <div id="${key}-error">
        ${fieldError(editing.errors[key])}
      </div>
    </td>
  </tr>`
}
