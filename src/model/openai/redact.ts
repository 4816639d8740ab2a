import { shorten } from '../../lib/shorten.ts'

const MIN_SECRET_CHARS = 4
const MAX_CHARS = 300
/** Keys as services echo them in errors, masked or not. */
const KEY_SHAPE = /\b(?:sk|rk|pk|ek)[-_][\w*.-]{4,}/gi
const BEARER = /\bBearer\s+[^\s"',;]+/gi

/** Makes a message safe to log and show: one line, without our secrets or anything like a key. */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text.slice(0, MAX_CHARS * 10)
  for (const secret of secrets) {
    if (secret.length < MIN_SECRET_CHARS) continue
    for (const form of new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])) {
      clean = clean.replaceAll(form, '[secret]')
    }
  }
  clean = clean.replace(BEARER, 'Bearer [secret]').replace(KEY_SHAPE, '[secret]')
  return shorten(clean.replace(/[\s\p{Cc}]+/gu, ' ').trim(), MAX_CHARS)
}
