import fc from 'fast-check'
import type { ResponseInputItem } from 'openai/resources/responses/responses'
import { expect, test } from 'vitest'
import { toPosted } from '../../../src/model/openai/request-body.ts'

const anItem = fc.record({
  type: fc.constant('message' as const),
  role: fc.constantFrom('user' as const, 'assistant' as const, 'developer' as const),
  content: fc.string({ unit: 'binary' }),
})

test('an encoded request says what the SDK would have said of it, whatever was encoded before', () => {
  const known: ResponseInputItem[] = []
  fc.assert(
    fc.property(
      fc.array(anItem),
      fc.string(),
      fc.option(fc.string(), { nil: undefined }),
      (news, model, instructions) => {
        known.push(...news)
        const params = { model, instructions, input: known, store: false as const }
        const { body, headers } = toPosted(params)
        expect(JSON.parse(body)).toEqual(JSON.parse(JSON.stringify(params)))
        expect(headers).toEqual({ 'content-type': 'application/json' })
      },
    ),
  )
})
