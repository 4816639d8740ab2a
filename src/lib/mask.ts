/** Replaces a secret. */
export const MASK = '[redacted]'

/** In the log, masking shorter secrets would mask ordinary words and dates. */
const SHORTEST_SECRET_CHARS = 6

/** Patterns of keys and tokens, for those that are not stored as settings. */
const SECRET_SHAPES =
  /\bsk-[\w-]{12,}|\b(?:AC|SK)[0-9a-f]{32}\b|\bBearer [\w.~+/=-]{8,}|\bBasic [\w+/]{16,}={0,2}|\bdelegate_session=[\w-]+|(?<=\/calendar\/)[\w-]{16,}|\beyJ[\w-]{10,}(?:\.[\w-]+){0,2}/g

export type Mask = {
  /** Masks the secrets: plain, in JSON, in URLs, in base64, and where white space splits them. */
  values(text: string): string
  /** Also masks anything that is shaped like a key. */
  text(text: string): string
}

/** `secretValues()` returns the current secrets. Those of fewer than `shortest` characters stay. */
export function createMask(secretValues: () => readonly string[], shortest = SHORTEST_SECRET_CHARS): Mask {
  function values(text: string): string {
    const spellings = secretValues()
      .filter(({ length }) => length >= shortest)
      .flatMap(spellingsOf)
    if (spellings.length === 0) return text
    const solid = text.replace(/\s+/g, '')
    const found = spellings.filter((spelling) => solid.includes(spelling))
    return found.reduce(cutOut, text)
  }
  return { values, text: (text) => values(text).replace(SECRET_SHAPES, MASK) }
}

/** Applies `change` to every text in a record, including property names. */
export function mapTexts(
  record: Readonly<Record<string, unknown>>,
  change: (text: string) => string,
): Record<string, unknown> {
  const deep = (value: unknown): unknown => {
    if (typeof value === 'string') return change(value)
    if (Array.isArray(value)) return value.map(deep)
    return typeof value === 'object' && value !== null ? mapTexts({ ...value }, change) : value
  }
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [change(name), deep(value)]))
}

/** The spellings of a secret without white space; longest first, so that no part of one remains. */
function spellingsOf(secret: string): string[] {
  const inJson = JSON.stringify(secret).slice(1, -1)
  const all = [
    secret,
    inJson,
    JSON.stringify(inJson).slice(1, -1),
    encodeURIComponent(secret),
    ...[0, 1, 2].flatMap((bytesBefore) => {
      const core = base64Core(secret, bytesBefore)
      return [core, core.replaceAll('+', '-').replaceAll('/', '_')]
    }),
  ].map((spelling) => spelling.replace(/\s+/g, ''))
  return [...new Set(all)].sort((one, other) => other.length - one.length)
}

/** The base64 characters that depend only on the secret, when `bytesBefore` other bytes precede it. */
function base64Core(secret: string, bytesBefore: number): string {
  const bytes = Buffer.concat([Buffer.alloc(bytesBefore), Buffer.from(secret)])
  return bytes.toString('base64').slice(Math.ceil((bytesBefore * 8) / 6), Math.floor((bytes.length * 8) / 6))
}

/** Replaces each occurrence of `spelling`, ignoring white space. */
function cutOut(text: string, spelling: string): string {
  const spaced = [...spelling].map((character) => RegExp.escape(character)).join('\\s*')
  return text.replaceAll(new RegExp(spaced, 'g'), MASK)
}
