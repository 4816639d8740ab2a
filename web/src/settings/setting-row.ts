import { html, nothing, type TemplateResult } from 'lit'
import type { Setting } from '../../../src/http/contract/settings.ts'
import { fieldError, takeText, withPoint } from '../design/field.ts'
import { msg } from '../design/msg.ts'
import { originView, type Tag } from './origin.ts'

/** The unsaved texts of settings by key, what is wrong with them, and what the owner can do. */
export type Editing = {
  readonly drafts: ReadonlyMap<string, string>
  readonly errors: Readonly<Record<string, string>>
  readonly edit: (setting: Setting, text: string) => void
  readonly reset: (setting: Setting) => void
}

const sources: Readonly<Record<Setting['source'], string>> = {
  stored: msg`Set here`,
  environment: msg`From the environment`,
  default: msg`Default`,
  unset: msg`Not set`,
}

const choiceNames: Readonly<Record<string, string>> = {
  chat: msg`Chat`,
  sms: msg`Text message`,
  webhook: msg`Webhook`,
  read: msg`Read`,
  note: msg`Read, note and remind`,
  change: msg`Also change and delete`,
  everything: msg`Everything`,
  auto: msg`My models`,
  relay: msg`The telephony provider`,
  browser: msg`The browser’s language`,
  en: 'English',
  de: 'Deutsch',
}

/** A row of a settings card: what it sets, its control, and what is wrong with its value. */
export function rowFrame(row: {
  readonly name: string
  readonly title: string
  readonly about: string
  readonly control: TemplateResult
  readonly error: string | undefined
  readonly origin?: TemplateResult
  readonly note?: string
  readonly changed?: boolean
}): TemplateResult {
  const { name, title, about, control, error, origin, note, changed = false } = row
  return html`<div class="setting ${changed ? 'changed' : ''}">
    <div>
      <label for=${name}>${title}</label>
      <p class="soft" id="${name}-about">${about}</p>
      ${origin ?? nothing}
    </div>
    <div class="control">
      ${control}
      <div id="${name}-error">
        ${note === undefined ? nothing : html`<p class="soft">${note}</p>`}
        ${fieldError(error)}
      </div>
    </div>
  </div>`
}

/** One setting: its description, the source of its value and its field. */
export function settingRow(setting: Setting, editing: Editing): TemplateResult {
  const { key, title, description } = setting
  return rowFrame({
    name: key,
    title,
    about: description,
    control: controlView(setting, editing),
    error: editing.errors[key],
    changed: editing.drafts.has(key),
    ...(isForAnotherHost(setting) ? { note: otherHostText(setting) } : {}),
    origin: settingOrigin(setting, editing),
  })
}

/** Where the value of a setting comes from. A secret is removed instead of reset. */
export function settingOrigin(setting: Setting, { reset }: Editing): TemplateResult {
  const { key, title, source, secret, restart } = setting
  const text = secret ? msg`Remove` : msg`Reset`
  const isStored = source === 'stored'
  const tags: readonly Tag[] = restart ? [[msg`After a restart`, 'restart']] : []
  return originView(
    [isStored ? [sources[source], 'on'] : [sources[source]], ...tags],
    [key],
    isStored ? { label: `${text} ${title}`, text, run: () => reset(setting) } : null,
  )
}

export function controlView(setting: Setting, { drafts, errors, edit }: Editing): TemplateResult {
  const { key, choices, unit } = setting
  const isAmount = setting.group === 'money'
  const typed = takeText((text) => edit(setting, isAmount ? withPoint(text) : text))
  const shown = drafts.get(key) ?? valueText(setting)
  const invalid = errors[key] !== undefined
  if (choices !== null) {
    return html`<select
      class="input small"
      id=${key}
      name=${key}
      aria-describedby="${key}-about ${key}-error"
      aria-invalid=${invalid}
      .value=${shown}
      @change=${typed}
    >
      ${choices.map(
        (choice) =>
          html`<option value=${choice} ?selected=${choice === shown}>${choiceNames[choice] ?? choice}</option>`,
      )}
    </select>`
  }
  const input = html`<input
    class="input small"
    id=${key}
    name=${key}
    type=${setting.secret ? 'password' : 'text'}
    inputmode=${isAmount ? 'decimal' : typeof setting.value === 'number' ? 'numeric' : /URL$/.test(key) ? 'url' : nothing}
    autocomplete=${setting.secret ? 'new-password' : 'off'}
    autocapitalize="off"
    spellcheck="false"
    list=${key === 'TIMEZONE' ? 'timezones' : nothing}
    placeholder=${placeholderOf(setting)}
    aria-describedby="${key}-about ${key}-error"
    aria-invalid=${invalid}
    .value=${shown}
    @input=${typed}
  />`
  return withUnit(input, unit)
}

export function withUnit(input: TemplateResult, unit: string | null): TemplateResult {
  return unit === null
    ? input
    : html`<div class="beside with-unit">${input}<span class="soft">${unit}</span></div>`
}

/** A setting's value as its field shows it; empty while unset and for a secret. */
export const valueText = (setting: Setting | undefined): string => String(setting?.value ?? '')

/** Whether the secret was entered for another host and is not sent to the current one. */
export function isForAnotherHost({ enteredFor, set }: Setting): boolean {
  return enteredFor !== null && !set
}

export function otherHostText({ enteredFor, sentTo }: Setting): string {
  const now = hostText(sentTo)
  return msg`Entered for ${hostText(enteredFor)}, so it is not sent to ${now}. If ${now} needs one, enter it here and confirm with your password.`
}

const hostText = (origin: string | null) => origin && new URL(origin).host

function placeholderOf(setting: Setting): string | typeof nothing {
  const { secret, set, sentTo } = setting
  if (!secret) return nothing
  if (isForAnotherHost(setting)) return msg`Not set for ${hostText(sentTo)}`
  return set ? msg`Set. Type to replace it` : msg`Not set`
}
