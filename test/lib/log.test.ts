import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLog } from '../../src/lib/log.ts'
import { createLogLines } from '../../src/lib/log-lines.ts'

function openLog(secrets: readonly string[] = []) {
  const written: string[] = []
  const { log, lines } = createLog({
    level: 'trace',
    write: (line) => void written.push(line),
    secretValues: () => secrets,
  })
  const kept = () => lines.read({ limit: 10, minLevel: 'trace', after: null }).lines
  return { log, written, kept, all: () => written.join('') + JSON.stringify(kept()) }
}

test('writes the time, level, message and fields of a line', () => {
  const { log, written, kept } = openLog()
  log.child({ requestId: 'r1' }).warn({ seq: 7 }, 'something %s', 'odd')
  expect(JSON.parse(written[0] ?? '')).toEqual({
    level: 'warn',
    time: expect.stringMatching(/Z$/),
    requestId: 'r1',
    seq: 7,
    msg: 'something odd',
  })
  expect(kept()).toEqual([
    {
      id: 1,
      at: expect.stringMatching(/Z$/),
      level: 'warn',
      message: 'something odd',
      fields: { requestId: 'r1', seq: 7 },
    },
  ])
})

test('masks a current secret in the message, fields, error and cause', () => {
  const secret = 'canary "quoted" \\ 123'
  const { log, all } = openLog([secret])
  log.error({ err: new Error(`refused ${secret}`, { cause: new Error(secret) }) }, `tried ${secret}`)
  log.info({ deep: { down: [secret] } })
  expect(all()).not.toContain('canary')
  expect(all()).toContain('tried [redacted]')
})

test('masks any secret, whatever its characters', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 6, unit: 'grapheme' }), (secret) => {
      const { log, written } = openLog([secret])
      log.info({ field: `x${secret}y` }, secret)
      expect(written).toHaveLength(1)
      const line = written[0] ?? ''
      expect(line.includes(JSON.stringify(secret).slice(1, -1)) && !'[redacted]'.includes(secret)).toBe(false)
    }),
  )
})

test('masks whatever looks like a key, even before it is a setting', () => {
  const { log, all } = openLog()
  const token = `${'a'.repeat(12)}.${'b'.repeat(12)}.${'c'.repeat(12)}`
  log.info({ headers: { authorization: 'x-canary', cookie: 'y-canary' }, password: 'z-canary' })
  log.info(`sk-canary0123456789abcdef Bearer canary-token delegate_session=canarycanary eyJ${token}`)
  const signIn = Buffer.from('AC1:canary-of-the-account').toString('base64')
  log.info(`Refused: Basic ${signIn}, "Basic ${signIn}"`)
  expect(all()).not.toMatch(/canary|aaaaaaaaaaaa/)
  expect(all()).not.toContain(signIn)
})

test('leaves ordinary words unchanged', () => {
  const { log, kept } = openLog(['short'])
  log.info('a short ride with a Bearer of news, Basic authentication, and task-list-of-things')
  expect(kept()[0]?.message).toBe(
    'a short ride with a Bearer of news, Basic authentication, and task-list-of-things',
  )
})

test('keeps the newest lines and counts the dropped ones', () => {
  const lines = createLogLines(5)
  const add = (count: number) => {
    for (let index = 0; index < count; index += 1)
      lines.add({ at: '', level: 'info', message: '', fields: {} })
  }
  const idsAfter = (after: number | null, limit = 10) => {
    const page = lines.read({ limit, minLevel: 'trace', after })
    return [page.lines.map(({ id }) => id), page.dropped, page.throughId]
  }
  expect(idsAfter(null)).toEqual([[], 0, 0])
  add(3)
  expect(idsAfter(null)).toEqual([[1, 2, 3], 0, 3])
  expect(idsAfter(1)).toEqual([[2, 3], 0, 3])
  add(5)
  expect(idsAfter(null)).toEqual([[4, 5, 6, 7, 8], 3, 8])
  expect(idsAfter(null, 2)).toEqual([[7, 8], 3, 8])
  expect(idsAfter(1)).toEqual([[4, 5, 6, 7, 8], 2, 8])
  expect(idsAfter(1, 2)).toEqual([[4, 5], 2, 5])
  expect(idsAfter(8)).toEqual([[], 0, 8])
  expect(idsAfter(99)).toEqual([[], 0, 99])
})

test('pages through every kept line once and in order', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.constant('read' as const), fc.constantFrom('info' as const, 'error' as const))),
      fc.integer({ min: 1, max: 4 }),
      (steps, limit) => {
        const lines = createLogLines(8)
        const errors: number[] = []
        const seen: number[] = []
        let position = 0
        let dropped = 0
        let count = 0
        const read = () => {
          const page = lines.read({ limit, minLevel: 'error', after: position })
          seen.push(...page.lines.map(({ id }) => id))
          dropped += page.dropped
          position = page.throughId
        }
        for (const step of steps) {
          if (step === 'read') read()
          else {
            count += 1
            lines.add({ at: '', level: step, message: '', fields: {} })
            if (step === 'error') errors.push(count)
          }
        }
        for (let round = 0; round <= count; round += 1) read()
        expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b))
        if (dropped === 0) expect(seen).toEqual(errors)
        expect(position).toBe(count)
      },
    ),
  )
})

test('delivers every line of a new process to a reader that follows the log over a restart', () => {
  const restarted = createLogLines(5, 1_000)
  const before = createLogLines(5, 500)
  for (const lines of [before, before, before, restarted, restarted]) {
    lines.add({ at: '', level: 'info', message: '', fields: {} })
  }
  const read = (lines: typeof before, after: number | null) => {
    const page = lines.read({ limit: 10, minLevel: 'trace', after })
    return [page.lines.map(({ id }) => id), page.dropped, page.throughId]
  }
  expect(read(before, null)).toEqual([[501, 502, 503], 0, 503])
  expect(read(restarted, 503)).toEqual([[1001, 1002], 0, 1002])
  expect(read(restarted, 1001)).toEqual([[1002], 0, 1002])
})

test('writes the set-up code to the log but does not keep it for the browser', () => {
  const { log, written, kept } = openLog()
  log.info({ url: 'http://127.0.0.1:8081/install#ab12', setupCode: 'ab12' }, 'not set up yet: open the link')
  expect(written.join('')).toContain('/install#ab12')
  expect(kept()).toEqual([])
})
