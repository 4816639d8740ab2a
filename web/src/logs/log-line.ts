import { html, nothing, type TemplateResult } from 'lit'
import type { LogLine } from '../../../src/http/contract/logs.ts'
import { fullTimeText } from '../design/format.ts'
import { msg } from '../design/msg.ts'
import { ownerFormat } from '../design/owner-time.ts'

const clockText = ownerFormat({
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
})

/** The fields in one line: `seq=7  path=/x`. */
function fieldsText({ fields }: LogLine): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('  ')
}

/** Whether the message, level or fields contain `query`, which must be in lower case. */
export function matchesLine(line: LogLine, query: string): boolean {
  return `${line.level} ${line.message} ${fieldsText(line)}`.toLowerCase().includes(query)
}

export function logLineView(line: LogLine, open: boolean, toggle: () => void): TemplateResult {
  const fields = fieldsText(line)
  const content = html`<time datetime=${line.at} title=${fullTimeText(line.at)}>${clockText(new Date(line.at))}</time>
    <span class="level">${line.level}</span>
    <span class="message">${line.message}${fields === '' || open ? nothing : html` <span class="fields">${fields.slice(0, 300)}</span>`}</span>`
  if (fields === '') return html`<div class="head">${content}</div>`
  return html`<button class="head flat" aria-expanded=${open} @click=${toggle}>${content}</button>
    ${open ? html`<pre tabindex="0" aria-label=${msg`Fields`}>${JSON.stringify(line.fields, null, 2)}</pre>` : nothing}`
}
