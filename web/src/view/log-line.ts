import { html, nothing, type TemplateResult } from 'lit'
import type { LogLine } from '../data/logs.ts'
import { fullTimeText } from './format.ts'
import { ownerFormat } from './owner-time.ts'

const clock = ownerFormat({
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
})

function clockText(at: string): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? at : clock(date)
}

/** `seq=7 path=/x`: the fields in one line. */
function fieldsText({ fields }: LogLine): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('  ')
}

/** Whether the line has `wanted`, which is in lower case, in its message, level or fields. */
export function matchesLine(line: LogLine, wanted: string): boolean {
  return `${line.level} ${line.message} ${fieldsText(line)}`.toLowerCase().includes(wanted)
}

/** One line of the log; its fields unfold where it has any. All of it is text. */
export function logLineView(line: LogLine, open: boolean, toggle: () => void): TemplateResult {
  const fields = fieldsText(line)
  const content = html`<time datetime=${line.at} title=${fullTimeText(line.at)}>${clockText(line.at)}</time>
    <span class="level">${line.level}</span>
    <span class="message">${line.message}${fields === '' || open ? nothing : html` <span class="fields">${fields.slice(0, 300)}</span>`}</span>`
  if (fields === '') return html`<div class="head">${content}</div>`
  return html`<button class="head" aria-expanded=${open} @click=${toggle}>${content}</button>
    ${open ? html`<pre tabindex="0" aria-label="Fields">${JSON.stringify(line.fields, null, 2)}</pre>` : nothing}`
}
