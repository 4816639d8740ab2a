import { wholeCharacters } from '../../projections/whole-characters.ts'

// Terminal escape sequences of ECMA-48: CSI, OSC, and the two-character ones.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

const MAX_WORD_CHARS = 40

/** Removes escape sequences and control characters, except tabs and line ends. */
export function cleanText(text: string): string {
  return text.toWellFormed().replace(/\r\n?/g, '\n').replace(ESCAPES, '').replace(CONTROLS, '').trim()
}

/** The end of a text, at most `chars` long, from the start of a line or a word if that is near. */
export function endOf(text: string, chars: number): string {
  if (text.length <= chars) return text
  const cut = wholeCharacters(text.slice(1 - chars))
  const [line, word] = [cut.indexOf('\n'), cut.indexOf(' ')]
  if (line >= 0 && line < chars / 2) return `…${cut.slice(line)}`
  return `…${word < MAX_WORD_CHARS ? cut.slice(word + 1) : cut}`
}
