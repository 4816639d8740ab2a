import { expect, test } from 'vitest'
import { parseServerMessage } from '../../../web/src/api/chat.ts'
import { UnexpectedAnswer } from '../../../web/src/api/json.ts'
import { parseProblem } from '../../../web/src/api/problem.ts'

const wire = {
  seq: 7,
  id: 'e7',
  type: 'chat.reply.sent',
  at: '2026-01-01T00:00:00.000Z',
  channel: 'chat',
  conversationId: 'c',
  spanId: 's',
  turnId: 't',
  internal: false,
  payload: { text: 'hi' },
}

test('parses timeline events and history pages', () => {
  expect(parseServerMessage(JSON.stringify({ type: 'timeline.event', event: wire }))).toEqual({
    type: 'timeline.event',
    event: wire,
  })
  const page = { events: [wire], spans: [], nextCursor: '1', hasMore: true, expandedEvents: 0 }
  expect(parseServerMessage(JSON.stringify({ type: 'history.page', mode: 'prepend', page }))).toEqual({
    type: 'history.page',
    mode: 'prepend',
    page: { events: [wire], wholeFromSeq: wire.seq, nextCursor: '1', hasMore: true },
  })
})

test('ignores messages of an unknown type and throws on malformed ones', () => {
  expect(parseServerMessage('{"type":"chat.mood","mood":"calm"}')).toBeNull()
  expect(() => parseServerMessage('{"type":"timeline.event","event":{"seq":"7"}}')).toThrow(UnexpectedAnswer)
  expect(() => parseServerMessage('not json')).toThrow(UnexpectedAnswer)
})

test('makes a problem of any error response, including a proxy’s error page', () => {
  expect(parseProblem('<html>', 502)).toEqual({
    status: 502,
    code: 'unknown',
    title: 'The service answered with status 502',
    detail: 'The service answered with status 502',
    errors: [],
  })
  const errors = [{ path: ['timezone'], message: 'Not a time zone' }]
  expect(parseProblem({ status: 400, code: 'invalid', title: 'Invalid', errors }, 400).errors).toEqual([
    { path: 'timezone', message: 'Not a time zone' },
  ])
})
