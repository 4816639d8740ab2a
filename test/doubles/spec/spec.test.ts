import { expect, test } from 'vitest'
import { createSpec, hasOpenAiSpec, loadOpenAiSpec } from './openai-spec.ts'

/** A small description with every construct that the conversion handles. */
const spec = createSpec({
  CreateResponse: {
    allOf: [
      { $ref: '#/components/schemas/Common' },
      { type: 'object', properties: { input: { $ref: '#/components/schemas/Items' } } },
    ],
  },
  Common: { type: 'object', properties: { model: { type: 'string', nullable: true } }, required: ['model'] },
  Items: { type: 'array', items: { $ref: '#/components/schemas/Item' } },
  Item: {
    oneOf: [{ $ref: '#/components/schemas/Message' }, { $ref: '#/components/schemas/Call' }],
    discriminator: { propertyName: 'type' },
  },
  Message: {
    type: 'object',
    properties: { type: { type: 'string', enum: ['message'] }, text: { type: 'string' } },
    required: ['text'],
  },
  Call: {
    type: 'object',
    properties: { type: { type: 'string', enum: ['call'] }, id: { type: 'string' } },
    required: ['type', 'id'],
  },
  Tree: {
    $recursiveAnchor: true,
    type: 'object',
    properties: { children: { type: 'array', items: { $recursiveRef: '#' } } },
  },
})

test.for([
  [
    {
      model: 'm',
      input: [{ type: 'message', text: 'x' }, { text: 'type may be left out' }, { type: 'call', id: 'a' }],
    },
    [],
  ],
  [{ model: null }, []],
  [{ input: [] }, ["must have required property 'model'"]],
  [{ model: 'm', modle: 'n' }, ['(modle)']],
  [{ model: 'm', input: [{ type: 'call' }] }, ["Call: must have required property 'id'"]],
  [
    { model: 'm', input: [{ type: 'call', id: 'a', extra: 1 }] },
    ['Call: must NOT have unevaluated properties (extra)'],
  ],
  [{ model: 'm', input: [{ type: 'shout', text: 'x' }] }, ['unknown type "shout"']],
  [{ model: 'm', input: ['x'] }, ['is not an object']],
] as const)('%j has the faults %j', ([body, faults]) => {
  const found = spec.request('/responses', body)
  expect(found.length > 0).toBe(faults.length > 0)
  for (const fault of faults) expect(found.join('\n')).toContain(fault)
})

test('follows a recursive schema', () => {
  expect(spec.schema('Tree', { children: [{ children: [] }] })).toEqual([])
  expect(spec.schema('Tree', { children: [{ children: 'none' }] })).not.toEqual([])
})

test.skipIf(!hasOpenAiSpec())('compiles the whole official description (skipped where it is absent)', () => {
  const official = loadOpenAiSpec()
  expect(official?.schema('Response', {})).not.toEqual([])
  expect(official?.streamEvent({ type: 'response.output_text.delta' })).not.toEqual([])
  expect(official?.streamEvent({ type: 'response.output_text.dleta' }).join()).toContain('unknown type')
  expect(official?.request('/embeddings', { model: 'm', input: 'x' })).toEqual([])
})
