import * as z from 'zod'
import { normalizeText } from '../../projections/normalize-text.ts'
import { english } from '../language/message.ts'

const MIN_PASSWORD_CHARS = 12
/** Far more than anyone types; only bounds the work. */
export const MAX_PASSWORD_CHARS = 1_000

/** A new password. Its length counts in characters as people see them, and nothing is truncated. */
export const newPasswordSchema = z
  .string()
  .refine((password) => charsOf(password) >= MIN_PASSWORD_CHARS, {
    error: english`must have at least ${MIN_PASSWORD_CHARS} characters`,
    abort: true,
  })
  .refine((password) => charsOf(password) <= MAX_PASSWORD_CHARS, {
    error: english`must have at most ${MAX_PASSWORD_CHARS} characters`,
  })
  // Publishes the bounds in the API reference.
  .meta({ minLength: MIN_PASSWORD_CHARS, maxLength: MAX_PASSWORD_CHARS })

function charsOf(password: string): number {
  // Counting code points copies the string, so skip it for very long ones.
  return password.length > 4 * MAX_PASSWORD_CHARS ? password.length : [...normalize(password)].length
}

/** Two keyboards may encode the same password as different code points (NIST SP 800-63B, 5.1.1.2). */
export function normalize(password: string): string {
  return normalizeText(password, 'NFKC')
}
