import type { AnyEvent } from '../../ledger/reader.ts'
import { parseJson } from './parse-json.ts'

/** The texts in the body of an event, as `withoutNames` reads them; "" if it has none. */
export function bodyText(event: AnyEvent): string {
  if (event.type === 'unknown' || !event.body) return ''
  const texts = Object.values(event.body).filter((value) => typeof value === 'string')
  return texts.map(withoutNames).join('\n')
}

/** What a text says. Of JSON, such as the arguments and results of tools, that is the values without their names. */
export function withoutNames(text: string): string {
  const json = /^\s*[{[]/.test(text) ? parseJson(text) : null
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
