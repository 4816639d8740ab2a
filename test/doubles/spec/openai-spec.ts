import { existsSync, readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { DataValidationCxt, SchemaValidateFunction } from 'ajv/dist/types/index.js'
import { isJson, type Json, REF, type Schemas, toValidatorSchemas } from './spec-schemas.ts'

/** The official description. It is not part of the project and may be absent. */
const SPEC_FILE = new URL('../../../../shared/specs/openai.json', import.meta.url)

export type SpecPath =
  | '/responses'
  | '/responses/compact'
  | '/chat/completions'
  | '/embeddings'
  | '/audio/speech'
  | '/audio/transcriptions'

/** Checks bodies against the official description. Each method returns the errors, or an empty list. */
export type OpenAiSpec = {
  request(path: SpecPath, body: unknown): string[]
  answer(path: SpecPath, body: unknown): string[]
  streamEvent(event: unknown): string[]
  /** Checks a value against the named schema. */
  schema(name: string, value: unknown): string[]
}

const REQUESTS: Readonly<Record<SpecPath, string>> = {
  '/responses': 'CreateResponse',
  '/responses/compact': 'CompactResponseMethodPublicBody',
  '/chat/completions': 'CreateChatCompletionRequest',
  '/embeddings': 'CreateEmbeddingRequest',
  '/audio/speech': 'CreateSpeechRequest',
  '/audio/transcriptions': 'CreateTranscriptionRequest',
}
const ANSWERS: Readonly<Record<Exclude<SpecPath, '/audio/speech'>, string>> = {
  '/responses': 'Response',
  '/responses/compact': 'CompactResource',
  '/chat/completions': 'CreateChatCompletionResponse',
  '/embeddings': 'CreateEmbeddingResponse',
  '/audio/transcriptions': 'CreateTranscriptionResponseJson',
}

/** Whether the description is present. Tests that need it skip otherwise. */
export function hasOpenAiSpec(): boolean {
  return existsSync(SPEC_FILE)
}

/** Loads the description, or returns null if absent. Schemas are compiled on first use. */
export function loadOpenAiSpec(): OpenAiSpec | null {
  if (!hasOpenAiSpec()) return null
  const document: unknown = JSON.parse(readFileSync(SPEC_FILE, 'utf8'))
  const components = isJson(document) && isJson(document.components) ? document.components : {}
  return createSpec(readSchemas(components.schemas))
}

function readSchemas(value: unknown): Schemas {
  if (!isJson(value)) throw new TypeError('the description has no schemas')
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, Json] => isJson(entry[1])),
  )
}

/** A checker over the schemas of an OpenAPI description. */
export function createSpec(schemas: Schemas): OpenAiSpec {
  const converted = toValidatorSchemas(schemas)
  const compiled = new Map<string, ValidateFunction>()
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false })

  function check(name: string, value: unknown): string[] {
    const validate = validatorOf(name)
    if (validate(value)) return []
    const errors = validate.errors ?? []
    const deepest = errors.toSorted((a, b) => b.instancePath.length - a.instancePath.length).slice(0, 3)
    return deepest.map((error) => {
      const extra = isJson(error.params)
        ? (error.params.unevaluatedProperty ?? error.params.additionalProperty ?? '')
        : ''
      return `${name}${error.instancePath}: ${error.message ?? error.keyword}${extra ? ` (${String(extra)})` : ''}`
    })
  }

  function validatorOf(name: string): ValidateFunction {
    const known = compiled.get(name)
    if (known) return known
    const schema = converted[name]
    if (!schema) throw new TypeError(`the description has no schema ${name}`)
    // References are resolved lazily, because compiling the whole description takes seconds.
    const validate = ajv.compile(withLazyRefs(schema))
    compiled.set(name, validate)
    return validate
  }

  /** Ajv reads the errors of a keyword from its function. */
  function report(
    keyword: SchemaValidateFunction,
    errors: readonly string[],
    place?: DataValidationCxt,
  ): boolean {
    if (errors.length === 0) return true
    const instancePath = place?.instancePath ?? ''
    keyword.errors = errors.map((message) => ({
      keyword: 'spec',
      message,
      params: {},
      instancePath,
      schemaPath: '',
    }))
    return false
  }

  const lazyRef: SchemaValidateFunction = (name: string, value: unknown, _parent, place) =>
    report(lazyRef, check(name, value), place)
  const byType: SchemaValidateFunction = (
    types: Record<string, string[]>,
    value: unknown,
    _parent,
    place,
  ) => {
    if (!isJson(value)) return report(byType, ['is not an object'], place)
    const type = typeof value.type === 'string' ? value.type : ''
    const names = types[type]
    if (!names) return report(byType, [`unknown type "${type}"`], place)
    const results = names.map((name) => check(name, value))
    return report(byType, results.some((errors) => errors.length === 0) ? [] : results.flat(), place)
  }
  ajv.addKeyword({ keyword: 'lazyRef', schemaType: 'string', validate: lazyRef, errors: true })
  ajv.addKeyword({ keyword: 'byType', schemaType: 'object', validate: byType, errors: true })

  return {
    request: (path, body) => check(REQUESTS[path], body),
    answer: (path, body) => (path === '/audio/speech' ? [] : check(ANSWERS[path], body)),
    streamEvent: (event) => check('ResponseStreamEvent', event),
    schema: check,
  }

  /** References inside an `allOf` are inlined, because their evaluated properties count for the whole. */
  function withLazyRefs(node: Json, isPart = false): Json {
    if (typeof node.$ref === 'string') {
      const name = node.$ref.slice(REF.length)
      const { $ref: _ref, ...rest } = node
      if (!isPart) return { ...withLazyRefs(rest), lazyRef: name }
      const target = converted[name]
      if (!target) throw new TypeError(`the description has no schema ${name}`)
      return { ...withLazyRefs(target, true), ...rest }
    }
    return Object.fromEntries(
      Object.entries(node).map(([keyword, value]) => {
        if (keyword === 'byType' || keyword === 'enum') return [keyword, value]
        if (Array.isArray(value)) {
          return [
            keyword,
            value.map((each) => (isJson(each) ? withLazyRefs(each, keyword === 'allOf') : each)),
          ]
        }
        return [keyword, isJson(value) ? withLazyRefs(value) : value]
      }),
    )
  }
}
