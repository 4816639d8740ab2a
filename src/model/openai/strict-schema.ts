import * as z from 'zod'

export type StrictSchema = { [key: string]: unknown }

/** Keywords that strict mode lacks. Dropping them is safe, because zod checks the answer. */
const DROPPED = ['default', 'minLength', 'maxLength', 'uniqueItems', 'examples'] as const
const FORMATS = new Set('date-time time date duration email hostname ipv4 ipv6 uuid'.split(' '))

/**
 * Converts to the JSON Schema subset of OpenAI's strict mode. Throws TypeError for what it cannot express (an
 * optional key, a record, a tuple). Declare such keys as nullable.
 */
export function toStrictSchema(schema: z.ZodType): StrictSchema {
  const {
    $schema,
    '~standard': _,
    ...strict
  } = z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'throw',
    override: ({ jsonSchema, path }) => restrict(jsonSchema, `$.${path.join('.')}`),
  })
  return strict
}

function restrict(node: z.core.JSONSchema.BaseSchema, path: string): void {
  for (const keyword of DROPPED) delete node[keyword]
  // `format` covers a pattern, and strict mode rejects the look-ahead in zod's format patterns.
  if (node.format !== undefined || node.pattern?.includes('(?')) delete node.pattern
  if (node.format !== undefined && !FORMATS.has(node.format)) delete node.format
  if (node.oneOf) {
    node.anyOf = node.oneOf
    delete node.oneOf
  }
  if (Array.isArray(node.items) || node.propertyNames || node.allOf)
    throw new TypeError(`${path}: strict mode has no tuples, records or intersections`)
  if (node.type !== 'object') return
  const keys = Object.keys(node.properties ?? {})
  const optional = keys.filter((key) => !node.required?.includes(key))
  if (optional.length > 0)
    throw new TypeError(
      `${path}: strict mode has no optional keys (${optional.join(', ')}); make them nullable`,
    )
  Object.assign(node, { properties: node.properties ?? {}, required: keys, additionalProperties: false })
}
