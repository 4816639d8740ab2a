import type { HaltState } from '../../../src/http/contract/halt.ts'
import { momentText } from '../design/format.ts'

const ways: Readonly<Record<string, string>> = {
  browser: 'in the browser',
  sms: 'by text',
  voice: 'by phone',
  shell: 'in the shell',
}

/** How Delegate was halted: "by text". */
export const haltedHow = (by: string): string => ways[by] ?? ''

/** Since when, and how: "Halted since 14:02 (by text)". */
export function haltedText({ since, by }: HaltState): string {
  if (since === null || by === null) return 'Halted'
  return `Halted since ${momentText(since)} (${haltedHow(by)})`
}
