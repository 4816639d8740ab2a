import type * as z from 'zod'
import { msg, translatedSentence } from './msg.ts'

/**
 * What is wrong with a value, to follow its name: `must be at most 1`. Our own messages are in the catalogue. The
 * library's, which begin with a capital, are replaced.
 */
export function issueText(issue: z.core.$ZodIssue): string {
  return /^[A-Z]/.test(issue.message) ? libraryIssueText(issue) : translatedSentence(issue.message)
}

function libraryIssueText(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'too_big':
      if (issue.origin === 'string') return msg`must have at most ${issue.maximum} characters`
      if (issue.origin === 'array') return msg`must have at most ${issue.maximum} entries`
      return msg`must be at most ${issue.maximum}`
    case 'too_small':
      if (issue.origin !== 'string' && issue.origin !== 'array') return msg`must be at least ${issue.minimum}`
      if (issue.minimum === 1) return msg`must not be empty`
      if (issue.origin === 'string') return msg`must have at least ${issue.minimum} characters`
      return msg`must have at least ${issue.minimum} entries`
    case 'invalid_type':
      if (issue.expected === 'int') return msg`must be a whole number`
      if (issue.expected === 'number') return msg`must be a number`
      return msg`must be of the type ${issue.expected}`
    case 'invalid_value':
      return msg`must be one of: ${issue.values.join(', ')}`
    case 'unrecognized_keys':
      return msg`must not have: ${issue.keys.join(', ')}`
    default:
      return msg`is not valid`
  }
}
