import { wholeCharacters } from '../../projections/whole-characters.ts'

/** Joins the lines of a text, so that no part of it can pose as a line of its own. */
export function oneLine(text: string): string {
  return text.replace(/[\s\u0085]+/g, ' ').trim()
}

/** At most `chars` of a text; `…` marks a cut. */
export function shorten(text: string, chars: number): string {
  if (text.length <= chars) return text
  return `${wholeCharacters(text.slice(0, chars - 1)).trimEnd()}…`
}
