import fc from 'fast-check'

type Bare =
  | 'create'
  | 'speech'
  | 'stop'
  | 'commit'
  | 'announce'
  | 'stale'
  | 'configure'
  | 'tool'
  | 'drop'
  | 'refuse'
  | 'expire'
  | 'surface'
  | 'key'

/** An action of either side of a call; its meaning depends on the state. */
export type Op =
  | { op: Bare }
  | { op: 'delta'; which: number; item: number; bytes: number }
  | { op: 'text'; which: number; item: number }
  | { op: 'audioDone' | 'added' | 'begun'; which: number; item: number }
  | { op: 'error'; code: string; isOurs: boolean }
  | { op: 'done'; which: number; status: 'completed' | 'cancelled' | 'failed' | 'incomplete'; tool: boolean }
  | { op: 'mark' | 'tick' | 'transcribe'; n: number }

const which = fc.nat(2)
const item = fc.nat(1)
const only = (...ops: Bare[]) => fc.constantFrom(...ops.map((op) => ({ op })))
export const anyOp: fc.Arbitrary<Op> = fc.oneof(
  {
    weight: 12,
    arbitrary: only(
      'create',
      'speech',
      'stop',
      'commit',
      'announce',
      'stale',
      'configure',
      'tool',
      'surface',
      'key',
    ),
  },
  { weight: 1, arbitrary: only('drop', 'refuse', 'expire') },
  {
    weight: 12,
    arbitrary: fc.record({
      op: fc.constant('delta'),
      which,
      item,
      bytes: fc.integer({ min: 1, max: 4_000 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ op: fc.constant('text'), which, item }) },
  {
    weight: 5,
    arbitrary: fc.record({ op: fc.constantFrom('audioDone', 'added', 'begun'), which, item }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant('error'),
      code: fc.constantFrom(
        'response_cancel_not_active',
        'item_truncate_invalid',
        'invalid_value',
        'server_error',
      ),
      isOurs: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant('done'),
      which,
      status: fc.constantFrom('completed', 'cancelled', 'failed', 'incomplete'),
      tool: fc.boolean(),
    }),
  },
  { weight: 8, arbitrary: fc.record({ op: fc.constantFrom('mark', 'transcribe'), n: fc.nat(4) }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('tick'), n: fc.integer({ min: 1, max: 6_000 }) }) },
)
