import type { HaltState } from '../../../src/http/contract/halt.ts'
import { momentText } from '../design/format.ts'
import { msg } from '../design/msg.ts'

const ways: Readonly<Record<string, string>> = {
  browser: msg`in the browser`,
  sms: msg`by text`,
  voice: msg`by phone`,
  shell: msg`in the shell`,
}

/** How Delegate was halted: "by text". */
export const haltedHow = (by: string): string => ways[by] ?? ''

/** Since when, and how: "Halted since 14:02 (by text)". */
export function haltedText({ since, by }: HaltState): string {
  if (since === null || by === null) return msg`Halted`
  return msg`Halted since ${momentText(since)} (${haltedHow(by)})`
}
