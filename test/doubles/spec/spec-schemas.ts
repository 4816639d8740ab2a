/**
 * Converts the schemas of an OpenAPI 3.x description to JSON Schema 2020-12, stricter where the
 * description only implies it:
 * - `nullable` and `$recursiveRef` become their 2020-12 equivalents.
 * - A union of objects with distinct `type` becomes a lookup by it (keyword `byType`), so that an error
 *   names the intended alternative. Other unions become `anyOf`: documented alternatives overlap.
 * - An object with documented properties allows no others, so that a misspelt key is an error.
 */
export type Json = { [key: string]: unknown }
export type Schemas = Readonly<Record<string, Json>>

export const REF = '#/components/schemas/'

export function toValidatorSchemas(schemas: Schemas): Record<string, Json> {
  const open = schemasWithinAllOf(schemas)
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const context: Context = { schemas, name, isOpen: open.has(name) }
      return [name, convert(schema, context)]
    }),
  )
}

type Context = { readonly schemas: Schemas; readonly name: string; readonly isOpen: boolean }

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function convert(node: Json, context: Context): Json {
  const inner = { ...context, isOpen: false }
  const union = unionOf(node)
  const result: Json = {}
  for (const [keyword, value] of Object.entries(node)) {
    if (
      [
        'oneOf',
        'anyOf',
        'nullable',
        'discriminator',
        '$recursiveAnchor',
        'example',
        'examples',
        'default',
      ].includes(keyword)
    ) {
      continue
    }
    if (keyword === '$recursiveRef') result.$ref = `${REF}${context.name}`
    else if (keyword === 'properties') result.properties = mapValues(value, (each) => convert(each, inner))
    else if (keyword === 'allOf')
      result.allOf = list(value).map((each) => convert(each, { ...context, isOpen: true }))
    else if (keyword === 'items' || keyword === 'additionalProperties') {
      result[keyword] = isJson(value) ? convert(value, inner) : value
    } else result[keyword] = value
  }
  if (union) Object.assign(result, convertUnion(union, context))
  const isObject = isJson(node.properties) || Array.isArray(node.allOf)
  if (isObject && !context.isOpen && node.additionalProperties === undefined)
    result.unevaluatedProperties = false
  return node.nullable === true ? { anyOf: [result, { type: 'null' }] } : result
}

function unionOf(node: Json): Json[] | null {
  const union = node.oneOf ?? node.anyOf
  return union === undefined ? null : list(union)
}

function convertUnion(alternatives: readonly Json[], context: Context): Json {
  const byType = dispatch(alternatives, context)
  if (!byType) return { anyOf: alternatives.map((each) => convert(each, context)) }
  return { byType }
}

/** The possible schemas for each value of `type`; `''` where it may be missing. Null for other unions. */
function dispatch(alternatives: readonly Json[], context: Context): Record<string, string[]> | null {
  const byType: Record<string, string[]> = {}
  for (const alternative of alternatives) {
    if (typeof alternative.$ref !== 'string') return null
    const name = alternative.$ref.slice(REF.length)
    const types = typesOf(context.schemas[name], context.schemas)
    if (!types) return null
    for (const type of types) {
      byType[type] ??= []
      byType[type].push(name)
    }
  }
  return alternatives.length > 1 ? byType : null
}

function typesOf(schema: Json | undefined, schemas: Schemas): string[] | null {
  if (!schema) return null
  const union = unionOf(schema)
  if (union) {
    const all = union.map((each) =>
      typeof each.$ref === 'string' ? typesOf(schemas[each.$ref.slice(REF.length)], schemas) : null,
    )
    return all.every((each) => each !== null) ? all.flat() : null
  }
  if (!isJson(schema.properties) || !isJson(schema.properties.type)) return null
  const { type } = schema.properties
  const values = enumOf(type) ?? list(type.anyOf ?? []).flatMap((each) => enumOf(each) ?? [])
  const isRequired = Array.isArray(schema.required) && schema.required.includes('type')
  return values.length === 0 ? null : isRequired ? values : [...values, '']
}

function enumOf(schema: Json): string[] | null {
  if (typeof schema.const === 'string') return [schema.const]
  return Array.isArray(schema.enum) ? schema.enum.filter((each) => typeof each === 'string') : null
}

/** Parts of an `allOf` stay open, because the whole closes them. */
function schemasWithinAllOf(schemas: Schemas): Set<string> {
  const found = new Set<string>()
  const visit = (node: unknown, within: boolean): void => {
    if (Array.isArray(node)) for (const each of node) visit(each, within)
    else if (isJson(node)) {
      if (within && typeof node.$ref === 'string') found.add(node.$ref.slice(REF.length))
      for (const [keyword, value] of Object.entries(node)) visit(value, keyword === 'allOf')
    }
  }
  visit(schemas, false)
  let size = -1
  while (size !== found.size) {
    size = found.size
    for (const name of found) {
      for (const part of list(schemas[name]?.allOf ?? [])) {
        if (typeof part.$ref === 'string') found.add(part.$ref.slice(REF.length))
      }
    }
  }
  return found
}

function list(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isJson) : []
}

function mapValues(value: unknown, change: (each: Json) => Json): Json {
  if (!isJson(value)) return {}
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, isJson(each) ? change(each) : each]),
  )
}
