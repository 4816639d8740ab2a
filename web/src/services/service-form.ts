import { html, nothing, type TemplateResult } from 'lit'
import { fieldView } from '../design/field.ts'
import { msg } from '../design/msg.ts'
import type { Service, ServiceKind, Tried } from './service-words.ts'

/** What the owner enters about a service. */
export type ServiceEntry = { readonly baseUrl: string; readonly apiKey: string }

/** Whether a service of this kind may have a key. A local server only has one if somebody put it there. */
function takesKey(kind: ServiceKind, service: Service | null): boolean {
  return kind.needsKey || kind.baseUrl === null || (service?.hasKey ?? false)
}

/** The address and the key of a service. */
export function entryFields(
  kind: ServiceKind,
  service: Service | null,
  errors: Readonly<Record<string, string>>,
): TemplateResult {
  const address = fieldView({
    name: 'baseUrl',
    label: msg`Address`,
    type: 'url',
    value: service?.baseUrl ?? kind.baseUrl ?? '',
    placeholder: kind.baseUrl ?? 'https://models.example.com/v1',
    error: errors.baseUrl,
  })
  const key = takesKey(kind, service)
    ? fieldView({
        name: 'apiKey',
        label: kind.needsKey ? msg`API key` : msg`API key, if it needs one`,
        type: 'password',
        placeholder: service?.hasKey ? msg`Set. Type to replace it` : '',
        error: errors.apiKey,
      })
    : nothing
  // The address of a hosted service is the same for everybody.
  return kind.needsKey
    ? html`${key}
        <details class="optional">
          <summary>${msg`Address`}</summary>
          ${address}
        </details>`
    : html`${address}${key}`
}

/** The key to save: undefined keeps the stored one. A new service never gets that of the one before it. */
export function keyToSave(
  kind: ServiceKind,
  service: Service | null,
  { apiKey }: ServiceEntry,
): string | undefined {
  return apiKey !== '' || service === null || !takesKey(kind, service) ? apiKey : undefined
}

/** What is missing before it can be saved, by field. */
export function missing(
  kind: ServiceKind,
  service: Service | null,
  { baseUrl, apiKey }: ServiceEntry,
): Readonly<Record<string, string>> {
  if (!URL.canParse(baseUrl) || !/^https?:/.test(baseUrl))
    return { baseUrl: msg`Enter an address that begins with http:// or https://.` }
  if (apiKey !== '') return {}
  if (service?.hasKey)
    return new URL(service.baseUrl).origin === new URL(baseUrl).origin
      ? {}
      : { apiKey: msg`Enter the key again: a key is never sent to another address.` }
  return kind.needsKey ? { apiKey: msg`Enter your key for ${kind.title}.` } : {}
}

/** What is missing before it can be tested, by field: the service uses a stored key only as it is saved. */
export function missingForTest(
  kind: ServiceKind,
  service: Service | null,
  entry: ServiceEntry,
): Readonly<Record<string, string>> {
  const errors = missing(kind, service, entry)
  const isKeyLeft = service?.hasKey && entry.apiKey === '' && entry.baseUrl !== service.baseUrl
  return isKeyLeft && Object.keys(errors).length === 0
    ? { apiKey: msg`To test another path before it is saved, enter the key again.` }
    : errors
}

/** The body of a test: of the saved service if nothing about it changes, so that its key is used. */
export function triedOf(kind: ServiceKind, service: Service | null, entry: ServiceEntry): Tried {
  const { baseUrl, apiKey } = entry
  if (service?.baseUrl === baseUrl && apiKey === '') return { id: service.id }
  return { kind: kind.kind, baseUrl, ...(apiKey === '' ? {} : { apiKey }) }
}

/** A host with a path, such as platform.openai.com/api-keys. */
const linkPattern = /\b([a-z]+\.[a-z][\w./-]*\w)/

/** The hint of a kind, with its addresses as links. */
export function hintView(hint: string): TemplateResult {
  const parts = hint.split(linkPattern)
  return html`<p class="soft">
    ${parts.map((part, at) => (at % 2 === 1 ? html`<a href="https://${part}" target="_blank" rel="noreferrer">${part}</a>` : part))}
  </p>`
}
