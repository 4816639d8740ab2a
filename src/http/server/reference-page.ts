import { html } from 'hono/html'
import { settingKeys, settingRegistry } from '../../settings/registry.ts'
import type { SettingDefinition } from '../../settings/setting.ts'
import type { Routes } from './env.ts'

export type OpenApiDocument = ReturnType<Routes['getOpenAPI31Document']>
type OperationObject = NonNullable<NonNullable<OpenApiDocument['paths']>[string]['get']>
type Html = ReturnType<typeof html>

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const

type Message = { readonly description?: string; readonly content?: Record<string, { schema?: unknown }> }
type Operation = { readonly method: string; readonly path: string; readonly operation: OperationObject }

/** The API reference as a page, from the same document as `/openapi.json`. Needs no scripts. */
export function referencePage(document: OpenApiDocument): Html {
  const groups = Map.groupBy(operationsOf(document), ({ operation }) => operation.tags?.[0] ?? 'Other')
  const schemas = Object.entries(document.components?.schemas ?? {})
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${document.info.title} HTTP reference</title>
    <link rel="icon" href="/favicon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="/docs.css">
  </head>
  <body>
    <header>
      <h1>${document.info.title} <small>${document.info.version}</small></h1>
      <p>${document.info.description}</p>
      <p>Every route may also return 400 (malformed body), 401 (no session, unless the route needs none), 403 (request
        from a page of another origin) or 413 (body too large).</p>
      <p>For programs: <a href="/openapi.json">/openapi.json</a></p>
      <nav aria-label="Contents">
        ${[...groups.keys()].map((group) => html`<a href="#${anchor(group)}">${group}</a> `)}
        <a href="#setting-keys">Setting keys</a> <a href="#schemas">Schemas</a>
      </nav>
    </header>
    <main>
      ${[...groups].map(([group, operations]) => section(group, operations))}
      ${settingsSection()}
      <section id="schemas">
        <h2>Schemas</h2>
        ${schemas.map(([name, schema]) => html`<h3 id="schema-${name}">${name}</h3>${shape(schema)}`)}
      </section>
    </main>
  </body>
</html>`
}

export function operationsOf(document: OpenApiDocument): Operation[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method]
      return operation ? [{ method, path, operation }] : []
    }),
  )
}

function section(group: string, operations: readonly Operation[]): Html {
  return html`<section id="${anchor(group)}"><h2>${group}</h2>${operations.map(article)}</section>`
}

function article({ method, path, operation }: Operation): Html {
  const { summary, security, parameters, requestBody, responses } = operation
  return html`<article>
    <h3><code><b>${method.toUpperCase()}</b> ${path}</code></h3>
    <p>${summary}${security?.length === 0 ? html` <em>Needs no session.</em>` : ''}</p>
    ${parameters && html`<h4>Parameters</h4>${shape(parameters)}`}
    ${requestBody && message('Body', requestBody)}
    ${Object.entries(responses ?? {}).map(([status, response]) => message(status, response))}
  </article>`
}

/** A request body or a response, with the schema of each content type. */
function message(title: string, { description, content = {} }: Message): Html {
  return html`<h4>${title} <small>${description}</small></h4>
    ${Object.entries(content).map(([type, { schema }]) => html`<div>${type}</div>${shape(schema)}`)}`
}

function settingsSection(): Html {
  return html`<section id="setting-keys">
    <h2>Setting keys</h2>
    <p>You can also set each of these in the environment. A stored value takes precedence.</p>
    <table>
      <tr><th scope="col">Key</th><th scope="col">Meaning</th><th scope="col">Default</th></tr>
      ${settingKeys.map((key) => {
        const { description, secret, default: byDefault }: SettingDefinition = settingRegistry[key]
        return html`<tr><th scope="row"><code>${key}</code></th>
          <td>${description}${secret ? ' Secret.' : ''}</td><td>${byDefault ?? 'unset'}</td></tr>`
      })}
    </table>
  </section>`
}

/** A JSON Schema as text; a reference becomes a link. */
function shape(schema: unknown): Html {
  if (typeof schema === 'object' && schema !== null && '$ref' in schema) {
    const name = String(schema.$ref).split('/').at(-1)
    return html`<p><a href="#schema-${name}">${name}</a></p>`
  }
  return html`<pre>${JSON.stringify(schema, null, 2)}</pre>`
}

function anchor(group: string): string {
  return group.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
}

export const referenceStyles = `:root { color-scheme: light dark; background: Canvas; color: CanvasText; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
nav a { margin-inline-end: 0.75rem; }
article { border-block-start: 1px solid color-mix(in srgb, currentcolor 20%, transparent); padding-block: 0.5rem; }
h2 { margin-block-start: 2.5rem; }
h3 code { font-size: 1.05em; }
h4 { margin-block: 0.75rem 0.25rem; }
small { font-weight: normal; opacity: 0.75; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: start; vertical-align: top; padding: 0.25rem 0.75rem 0.25rem 0; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; padding: 0.75rem; border-radius: 0.5rem;
  background: color-mix(in srgb, currentcolor 7%, transparent); font-size: 0.85rem; }
`
