const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const GROUPS = 4
const CHARS_PER_GROUP = 4

/** A code that a person types once: 80 random bits in Crockford's base 32, in groups. */
export function createTypedCode(randomBytes: (bytes: number) => Uint8Array): string {
  const chars = [...randomBytes(GROUPS * CHARS_PER_GROUP)].map((byte) => ALPHABET.charAt(byte & 31))
  return Array.from({ length: GROUPS }, (_, group) =>
    chars.slice(group * CHARS_PER_GROUP, (group + 1) * CHARS_PER_GROUP).join(''),
  ).join('-')
}

/** Ignores the case and grouping of a typed code. */
export function normalizeTypedCode(typed: string): string {
  return typed.toLowerCase().replace(/[\s-]/g, '')
}
