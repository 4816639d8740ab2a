import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { toStrictSchema } from '../../../src/model/openai/strict-schema.ts'

test('closes every object and requires all its keys, at any depth', () => {
  const schema = z.object({
    list: z.array(z.object({ a: z.string(), b: z.int().min(1).max(5).nullable() })),
    kind: z.discriminatedUnion('type', [
      z.object({ type: z.literal('x') }),
      z.object({ type: z.literal('y'), n: z.number() }),
    ]),
  })
  expect(toStrictSchema(schema)).toEqual({
    type: 'object',
    properties: {
      list: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            a: { type: 'string' },
            b: { anyOf: [{ type: 'integer', minimum: 1, maximum: 5 }, { type: 'null' }] },
          },
          required: ['a', 'b'],
          additionalProperties: false,
        },
      },
      kind: {
        anyOf: [
          {
            type: 'object',
            properties: { type: { type: 'string', const: 'x' } },
            required: ['type'],
            additionalProperties: false,
          },
          {
            type: 'object',
            properties: { type: { type: 'string', const: 'y' }, n: { type: 'number' } },
            required: ['type', 'n'],
            additionalProperties: false,
          },
        ],
      },
    },
    required: ['list', 'kind'],
    additionalProperties: false,
  })
})

test('drops what strict mode does not support and keeps descriptions', () => {
  const schema = z.object({
    text: z.string().min(1).max(9).describe('Words'),
    at: z.iso.datetime(),
    url: z.url(),
    code: z.string().regex(/^[a-z]+$/),
    lookahead: z.string().regex(/^(?=a)/),
  })
  expect(toStrictSchema(schema).properties).toEqual({
    text: { type: 'string', description: 'Words' },
    at: { type: 'string', format: 'date-time' },
    url: { type: 'string' },
    code: { type: 'string', pattern: '^[a-z]+$' },
    lookahead: { type: 'string' },
  })
})

test('allows keys named like keywords', () => {
  const schema = z.object({
    format: z.string(),
    pattern: z.string(),
    default: z.string(),
    required: z.boolean(),
  })
  const strict = toStrictSchema(schema)
  expect(strict.required).toEqual(['format', 'pattern', 'default', 'required'])
  expect(strict.properties).toEqual({
    format: { type: 'string' },
    pattern: { type: 'string' },
    default: { type: 'string' },
    required: { type: 'boolean' },
  })
})

test('produces a valid JSON Schema that accepts what zod accepts', () => {
  const schema = z.object({ a: z.string().nullable(), b: z.array(z.enum(['x', 'y'])) })
  const validate = new Ajv2020().compile(toStrictSchema(schema))
  expect(validate({ a: null, b: ['x'] })).toBe(true)
  expect(validate({ a: null })).toBe(false)
  expect(validate({ a: null, b: [], c: 1 })).toBe(false)
})

test.for([
  ['an optional key', z.object({ a: z.string().optional() })],
  ['a key with a default', z.object({ a: z.string().default('x') })],
  ['a record', z.object({ a: z.record(z.string(), z.string()) })],
  ['a tuple', z.object({ a: z.tuple([z.string(), z.number()]) })],
] as const)('rejects %s early, because the service would reject the whole request', ([, schema]) => {
  expect(() => toStrictSchema(schema)).toThrow(TypeError)
})
