const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const GROUPS = 4
const CHARS_A_GROUP = 4

/**
 * A one-time code for the first launch: 80 random bits in Crockford's base 32, grouped so that it can be typed.
 * `randomBytes` gives as many bytes as asked for.
 */
export function createSetupCode(randomBytes: (bytes: number) => Uint8Array): string {
  const chars = [...randomBytes(GROUPS * CHARS_A_GROUP)].map((byte) => ALPHABET.charAt(byte & 31))
  return Array.from({ length: GROUPS }, (_, group) =>
    chars.slice(group * CHARS_A_GROUP, (group + 1) * CHARS_A_GROUP).join(''),
  ).join('-')
}

/** As the owner may type it: case and grouping do not matter. */
export function normalizeSetupCode(typed: string): string {
  return typed.toLowerCase().replace(/[\s-]/g, '')
}
