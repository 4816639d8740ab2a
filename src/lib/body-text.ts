import type { AnyEvent } from '../../ledger/reader.ts'
import { parseJson } from './parse-json.ts'

/** The texts in the body of an event, without the names in the JSON of tools; "" if it has none. */
export function bodyText(event: AnyEvent): string {
  if (event.type === 'unknown' || !event.body) return ''
  const texts = Object.values(event.body).filter((value) => typeof value === 'string')
  const isOfTool = event.type === 'tool.called' || event.type === 'tool.returned'
  return (isOfTool ? texts.map(withoutNames) : texts).join('\n')
}

/** The values in the arguments or the result of a tool, which are JSON. Anything else stays as it is. */
export function withoutNames(text: string): string {
  const json = parseJson(text)
  if (json === null) return text
  const values: string[] = []
  const open: unknown[] = [json]
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value !== 'object' || value === null) values.push(String(value))
    else for (const each of Object.values(value)) open.push(each)
  }
  return values.join('\n')
}
