import * as z from 'zod'

type Json = { [key: string]: unknown }
export type StrictSchema = Json

/** Keywords that strict mode lacks. Dropping them is safe, because zod checks the answer. */
const DROPPED = new Set([
  '$schema',
  'default',
  'minLength',
  'maxLength',
  'uniqueItems',
  'contentEncoding',
  'contentMediaType',
  'examples',
])
const FORMATS = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
])
const REFUSED = new Set(['propertyNames', 'patternProperties', 'not', 'allOf', 'prefixItems'])

/**
 * Converts to the JSON Schema subset of OpenAI's strict mode. Throws TypeError for what it cannot express (an
 * optional key, a record, a tuple). Declare such keys as nullable.
 */
export function toStrictSchema(schema: z.ZodType): Json {
  return strict(
    z.toJSONSchema(schema, { target: 'draft-7', io: 'input', unrepresentable: 'throw' }),
    '$',
  ) as Json
}

function strict(node: unknown, path: string): unknown {
  if (Array.isArray(node)) return node.map((each, index) => strict(each, `${path}[${index}]`))
  if (!isJson(node)) return node
  const result: Json = {}
  for (const [keyword, value] of Object.entries(node)) {
    if (REFUSED.has(keyword)) throw new TypeError(`${path}: strict mode has no "${keyword}"`)
    if (keyword === 'items' && Array.isArray(value)) throw new TypeError(`${path}: strict mode has no tuples`)
    if (DROPPED.has(keyword)) continue
    if (keyword === 'format' && !FORMATS.has(String(value))) continue
    // `format` covers it, and strict mode rejects the look-ahead in zod's format patterns.
    if (keyword === 'pattern' && ('format' in node || String(value).includes('(?'))) continue
    if (keyword === 'enum' || keyword === 'const' || keyword === 'required') result[keyword] = value
    else if (keyword === 'properties' || keyword === 'definitions') result[keyword] = mapValues(value, path)
    else result[keyword === 'oneOf' ? 'anyOf' : keyword] = strict(value, `${path}.${keyword}`)
  }
  return node.type === 'object' ? closed(result, path) : result
}

function closed(node: Json, path: string): Json {
  if (isJson(node.additionalProperties)) throw new TypeError(`${path}: strict mode has no records`)
  const keys = Object.keys(isJson(node.properties) ? node.properties : {})
  const required = new Set(Array.isArray(node.required) ? node.required : [])
  const optional = keys.filter((key) => !required.has(key))
  if (optional.length > 0) {
    throw new TypeError(
      `${path}: strict mode has no optional keys (${optional.join(', ')}); make them nullable`,
    )
  }
  return { ...node, properties: node.properties ?? {}, required: keys, additionalProperties: false }
}

function mapValues(value: unknown, path: string): Json {
  if (!isJson(value)) throw new TypeError(`${path}: properties are not an object`)
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, strict(each, `${path}.${key}`)]))
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
