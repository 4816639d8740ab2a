/** What stands in the place of a secret. */
export const MASK = '[redacted]'

/** Shorter ones would mask ordinary words. */
const SHORTEST_SECRET_CHARS = 6

/** What keys and tokens look like, for those that are not settings (yet). */
const SECRET_SHAPES =
  /\bsk-[\w-]{12,}|\b(?:AC|SK)[0-9a-f]{32}\b|\bBearer [\w.~+/=-]{8,}|\bBasic [\w+/]{16,}={0,2}|\bdelegate_session=[\w-]+|\beyJ[\w-]{10,}(?:\.[\w-]+){0,2}/g

export type Mask = {
  /** Without the secrets: as they are, in JSON, in URLs, in base64, and also where white space splits them. */
  values(text: string): string
  /** Also without anything that is shaped like a key. */
  text(text: string): string
}

/** `secretValues()` are those in force at that moment. */
export function createMask(secretValues: () => readonly string[]): Mask {
  function values(text: string): string {
    const spellings = secretValues().flatMap(spellingsOf)
    if (spellings.length === 0) return text
    const solid = text.replace(/\s+/g, '')
    const found = spellings.filter((spelling) => solid.includes(spelling))
    return found.reduce(cutOut, text)
  }
  return { values, text: (text) => values(text).replace(SECRET_SHAPES, MASK) }
}

/** The same record with `change` applied to each text in it, names too. */
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

/** How a secret may be written, without white space; the longest first, so that no rest of one is left. */
function spellingsOf(secret: string): string[] {
  if (secret.length < SHORTEST_SECRET_CHARS) return []
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

/** The characters of a longer text's base64 that depend on nothing but the secret in it. */
function base64Core(secret: string, bytesBefore: number): string {
  const bytes = Buffer.concat([Buffer.alloc(bytesBefore), Buffer.from(secret)])
  return bytes.toString('base64').slice(Math.ceil((bytesBefore * 8) / 6), Math.floor((bytes.length * 8) / 6))
}

/** Replaces each place that reads as `spelling` when white space is left out. */
function cutOut(text: string, spelling: string): string {
  // Where each character other than white space stands.
  const places = [...text.matchAll(/\S/g)].map(({ index }) => index)
  const solid = text.replace(/\s+/g, '')
  let rest = 0
  let result = ''
  for (let at = solid.indexOf(spelling); at >= 0; at = solid.indexOf(spelling, at + spelling.length)) {
    result += text.slice(rest, places[at]) + MASK
    rest = (places[at + spelling.length - 1] ?? text.length) + 1
  }
  return result + text.slice(rest)
}
