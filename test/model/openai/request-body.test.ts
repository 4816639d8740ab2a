import fc from 'fast-check'
import type { FunctionTool, ResponseInputItem } from 'openai/resources/responses/responses'
import { expect, test } from 'vitest'
import { toPosted } from '../../../src/model/openai/request-body.ts'

const anItem = fc.record({
  type: fc.constant('message' as const),
  role: fc.constantFrom('user' as const, 'assistant' as const, 'developer' as const),
  content: fc.string({ unit: 'binary' }),
})

const aTool = fc.record({
  type: fc.constant('function' as const),
  name: fc.string(),
  description: fc.string({ unit: 'binary' }),
  parameters: fc.dictionary(fc.string(), fc.jsonValue()),
  strict: fc.boolean(),
})

test('an encoded request says what the SDK would have said of it, whatever was encoded before', () => {
  const known: ResponseInputItem[] = []
  const offered: FunctionTool[] = []
  fc.assert(
    fc.property(
      fc.array(anItem),
      fc.option(fc.array(aTool, { maxLength: 2 }), { nil: undefined }),
      fc.string(),
      fc.option(fc.string(), { nil: undefined }),
      (news, tools, model, instructions) => {
        known.push(...news)
        offered.push(...(tools ?? []))
        const given = tools === undefined ? {} : { tools: offered }
        const params = { model, instructions, ...given, input: known, store: false as const }
        const { body, headers } = toPosted(params)
        expect(JSON.parse(body.toString())).toEqual(JSON.parse(JSON.stringify(params)))
        expect(headers).toEqual({ 'content-type': 'application/json' })
      },
    ),
  )
})
