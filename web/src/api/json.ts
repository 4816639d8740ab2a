/** The service sent something that violates the API contract. */
export class UnexpectedAnswer extends Error {
  constructor(what: string) {
    super(`The service sent an answer that this page does not understand (${what}).`)
    this.name = 'UnexpectedAnswer'
  }
}

export type JsonObject = { readonly [key: string]: unknown }

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Throws UnexpectedAnswer if `value` is not a JSON object. */
export function asObject(value: unknown, what: string): JsonObject {
  if (!isObject(value)) throw new UnexpectedAnswer(what)
  return value
}

/** Throws UnexpectedAnswer if the field is not a string. */
export function stringField(object: JsonObject, field: string): string {
  const value = object[field]
  if (typeof value !== 'string') throw new UnexpectedAnswer(field)
  return value
}

/** Null if the field is missing or null. Throws UnexpectedAnswer if it is not a string. */
export function optionalString(object: JsonObject, field: string): string | null {
  const value = object[field]
  if (value === undefined || value === null) return null
  return stringField(object, field)
}

/** Throws UnexpectedAnswer if the field is not a finite number. */
export function numberField(object: JsonObject, field: string): number {
  const value = object[field]
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new UnexpectedAnswer(field)
  return value
}

/** Throws UnexpectedAnswer if the field is not a boolean. */
export function booleanField(object: JsonObject, field: string): boolean {
  const value = object[field]
  if (typeof value !== 'boolean') throw new UnexpectedAnswer(field)
  return value
}

/** Throws UnexpectedAnswer if the field is not an array, or whatever `parse` throws. */
export function arrayField<T>(object: JsonObject, field: string, parse: (item: unknown) => T): T[] {
  const value = object[field]
  if (!Array.isArray(value)) throw new UnexpectedAnswer(field)
  return value.map(parse)
}

export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw Object.assign(new UnexpectedAnswer(what), { cause })
  }
}
