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

/**
 * The shortest schema that a model can call a tool by, without strict mode: no descriptions, and a key that may be null
 * may be left out.
 */
export function toBriefSchema(schema: z.ZodType): StrictSchema {
  return { ...brief(toStrictSchema(schema)) }
}

type Node = {
  readonly type?: string | readonly string[] | undefined
  readonly anyOf?: readonly Node[]
  readonly enum?: readonly unknown[]
  readonly items?: Node
  readonly properties?: Readonly<Record<string, Node>>
}

function brief({ type, anyOf, properties, ...node }: Node): Node {
  const [only, ...others] = (anyOf ?? []).filter((each) => each.type !== 'null')
  if (only && others.length === 0) return brief(only)
  const types = [type ?? []].flat().filter((each) => each !== 'null')
  const kept = {
    type: types.length === 1 ? types[0] : types,
    ...(node.enum ? { enum: node.enum.filter((each) => each !== null) } : {}),
    ...(node.items ? { items: brief(node.items) } : {}),
  }
  if (!properties) return kept
  const entries = Object.entries(properties)
  const required = entries.flatMap(([key, value]) => (mayBeNull(value) ? [] : [key]))
  return {
    ...kept,
    properties: Object.fromEntries(entries.map(([key, value]) => [key, brief(value)])),
    ...(required.length > 0 ? { required } : {}),
  }
}

const mayBeNull = ({ type, anyOf }: Node): boolean =>
  type === 'null' || (Array.isArray(type) && type.includes('null')) || (anyOf?.some(mayBeNull) ?? false)

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
