import * as z from 'zod'
import { english } from '../language/message.ts'

/** Schemas of setting values, from the API or the environment (numbers also as digits), in canonical form. */

const line = z.string().trim().min(1, english`must not be empty`)

/** One line of printable text. */
export const textSchema = line.max(500).regex(/^\P{Cc}+$/u, english`must not contain control characters`)

/** A passphrase that nobody can guess from a copy of what it protects. */
export const passphraseSchema = z
  .string()
  .max(500)
  .regex(/^\P{Cc}+$/u, english`must not contain control characters`)
  .refine((text) => text.trim() === text, english`must not begin or end with a space`)
  .refine((text) => text.length >= 12, english`must have at least 12 characters`)

/** A key, token, identifier or model name. Visible ASCII only, because it goes into headers and URLs. */
export const tokenSchema = line
  .max(500)
  .regex(/^[\x21-\x7e]+$/, english`must be visible ASCII without spaces`)

/** A whole number from `min` to `max`. */
export function integerSchema(min: number, max: number) {
  const bounds = { error: english`must be a whole number from ${min} to ${max}` }
  return z
    .union(
      [
        z.number(),
        z
          .string()
          .trim()
          .regex(/^-?\d{1,15}$/)
          .transform(Number),
      ],
      bounds,
    )
    .pipe(z.int(bounds).min(min, bounds).max(max, bounds))
}

const AMOUNT = english`must be an amount in US dollars, like 5 or 12.50`

/** An amount of US dollars, with cents at most. */
export const amountSchema = z
  .union(
    [
      z.number(),
      z
        .string()
        .trim()
        .regex(/^\d{1,6}(?:[.,]\d{1,2})?$/)
        .transform((amount) => Number(amount.replace(',', '.'))),
    ],
    { error: AMOUNT },
  )
  .pipe(z.number(AMOUNT).min(0, AMOUNT).max(100_000, AMOUNT))

/** The address of another service: http or https, without credentials, query, fragment or trailing slash. */
export const serviceUrlSchema = line.max(2000).transform((text, context) => {
  const url = parseHttpUrl(text)
  if (url === null || url.search !== '' || url.hash !== '') {
    context.addIssue(english`must be an http or https URL without credentials, query or fragment`)
    return z.NEVER
  }
  return url.href.replace(/(?<!\/)\/+$/, '')
})

/** The address of another service that may have a query, such as a webhook's token. */
export const webhookUrlSchema = line.max(2000).transform((text, context) => {
  const url = parseHttpUrl(text)
  if (url !== null) return url.href
  context.addIssue(english`must be an http or https URL without credentials`)
  return z.NEVER
})

/** The address of this service: scheme, host and port only. */
export const originSchema = line.max(300).transform((text, context) => {
  const url = parseHttpUrl(text)
  if (url !== null && url.pathname === '/' && url.search === '' && url.hash === '') return url.origin
  context.addIssue(english`must be an origin like https://delegate.example.com, without a path`)
  return z.NEVER
})

function parseHttpUrl(text: string): URL | null {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return null
  return url.username === '' && url.password === '' ? url : null
}

/** A phone number in E.164 format (ITU-T). */
export const phoneNumberSchema = line
  // As people write them: "+44 (0)7700 900-123". The zero in parentheses is not dialled.
  .transform((text) => text.replace(/\(0\)|[\s()./-]/g, ''))
  .pipe(z.string().regex(/^\+[1-9]\d{6,14}$/, english`must be a phone number like +493012345678`))

/** The digits of a PIN, other than a repetition or a row like 1234 or 4321. */
export const pinSchema = line
  .regex(/^\d{4,12}$/, english`must be 4 to 12 digits`)
  .refine((digits) => !isRow(digits), english`must not be one digit repeated, or digits in a row`)

function isRow(digits: string): boolean {
  const steps = [...digits].slice(1).map((digit, index) => Number(digit) - Number(digits[index]))
  return steps.every((step) => step === steps[0] && Math.abs(step) <= 1)
}

/** Comma-separated phone numbers. */
export const phoneNumbersSchema = line
  .max(500)
  .transform((text) => text.split(',').flatMap((number) => number.trim() || []))
  .pipe(z.array(phoneNumberSchema).min(1).max(20))
  .transform((numbers) => [...new Set(numbers)].join(','))

/** An IANA time zone that this machine's ICU data knows. */
export const timezoneSchema = line
  .max(64)
  .refine(isTimezone, english`must be an IANA time zone like Europe/Berlin`)

function isTimezone(name: string): boolean {
  // Intl also accepts offsets such as +02:00, which ignore daylight saving time.
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** An absolute path on this machine. */
export const directorySchema = line.max(1000).regex(/^\/\P{Cc}*$/u, english`must be an absolute path`)

/** Hours of the day, in the owner's time zone. */
export const quietHoursSchema = line
  .transform((hours) => hours.replace(/ ?[-–] ?/, '-'))
  .pipe(
    z
      .string()
      .regex(
        /^(?:[01]\d|2[0-3]):[0-5]\d-(?:[01]\d|2[0-3]):[0-5]\d$/,
        english`must be hours like 22:00-07:00`,
      ),
  )
  .refine((hours) => hours.slice(0, 5) !== hours.slice(6), english`must begin and end at different times`)
