import type * as z from 'zod'
import { de } from 'zod/locales'
import { languageNow, translatedSentence } from './msg.ts'

const { localeError: germanErrors } = de()

/** What is wrong with a value. Our own messages are in the catalogue; for the library's, it has a translation. */
export function issueText(issue: z.core.$ZodIssue): string {
  const own = translatedSentence(issue.message)
  if (own !== issue.message || languageNow() !== 'de') return own
  const message = germanErrors({ input: undefined, ...issue } as z.core.$ZodRawIssue)
  return (typeof message === 'string' ? message : message?.message) ?? own
}
