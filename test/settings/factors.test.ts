import { Secret, TOTP } from 'otpauth'
import { expect, test } from 'vitest'
import type { NewEvent } from '../../ledger/event.ts'
import { createFactorStore } from '../../src/settings/factor-store.ts'
import { createFactors } from '../../src/settings/factors.ts'
import { openSecretBox } from '../../src/settings/secrets.ts'
import { newDirectory } from './owner-state.ts'

/** The secret of RFC 6238, appendix B. */
const SECRET = Buffer.from('12345678901234567890')
/** Appendix B for SHA-1: seconds, and the last six of eight digits. */
const VECTORS = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
] as const
const ENROLLED_S = 1
const codeAt = (seconds: number) =>
  TOTP.generate({ secret: new Secret({ buffer: Uint8Array.from(SECRET).buffer }), timestamp: seconds * 1000 })

/** Factors with the app of the RFC, at a time that the test sets. */
async function enrolled() {
  const documents = new Map<string, string>()
  const facts: NewEvent[] = []
  let nowS = ENROLLED_S
  const secrets = openSecretBox(newDirectory())
  const open = () =>
    createFactors({
      store: createFactorStore({
        document: (name) => documents.get(name) ?? null,
        writeDocument: (name, content) => void documents.set(name, content),
      }),
      secrets,
      makeKey: secrets.makeKey,
      append: async (events) => {
        facts.push(...events)
        return { status: 'appended', events: [] }
      },
      nowMs: () => nowS * 1000,
      randomBytes: (bytes) =>
        bytes === SECRET.length ? SECRET : crypto.getRandomValues(new Uint8Array(bytes)),
      onWarning: () => undefined,
    })
  const factors = open()
  const begun = factors.beginTotp('session')
  const recoveryCodes = await factors.confirmTotp('session', codeAt(ENROLLED_S))
  if (typeof recoveryCodes === 'string') throw new Error(recoveryCodes)
  const at = (seconds: number) => {
    nowS = seconds
  }
  return { factors, begun, recoveryCodes, facts, at, open, documents }
}

test('accepts the codes of RFC 6238, each once', async () => {
  const { factors, begun, at } = await enrolled()
  expect(begun?.uri).toBe(
    `otpauth://totp/Delegate:owner?issuer=Delegate&secret=${begun?.secret}&algorithm=SHA1&digits=6&period=30`,
  )
  for (const [seconds, code] of VECTORS) {
    at(seconds)
    expect(codeAt(seconds)).toBe(code)
    expect([seconds, await factors.useCode(code)]).toEqual([seconds, true])
    expect([seconds, await factors.useCode(code)]).toEqual([seconds, false])
  }
})

test('tolerates a clock that is one step off, and no code that is older than the last one', async () => {
  const { factors, at, open } = await enrolled()
  // The code that confirmed the app cannot sign in as well.
  expect(await factors.useCode(codeAt(ENROLLED_S))).toBe(false)
  at(300)
  expect(await factors.useCode(codeAt(300 - 60))).toBe(false)
  expect(await factors.useCode(codeAt(300 + 60))).toBe(false)
  expect(await factors.useCode(` ${codeAt(300 + 30).slice(0, 3)} ${codeAt(300 + 30).slice(3)} `)).toBe(true)
  expect(await factors.useCode(codeAt(300))).toBe(false)
  // After a restart too.
  expect(await open().useCode(codeAt(300 + 30))).toBe(false)
  at(360)
  expect(await factors.useCode(codeAt(360))).toBe(true)
})

test('does not lock the owner out after a clock that was years ahead', async () => {
  const { factors, at } = await enrolled()
  at(20_000_000_000)
  expect(await factors.useCode('353130')).toBe(true)
  at(1_234_567_890)
  expect(await factors.useCode('005924')).toBe(true)
  expect(await factors.useCode('005924')).toBe(false)
})

test('accepts each of ten recovery codes once, and only the newest ten', async () => {
  const { factors, recoveryCodes, facts, documents } = await enrolled()
  expect(new Set(recoveryCodes).size).toBe(10)
  const [first = '', second = ''] = recoveryCodes
  expect(JSON.stringify([...documents])).not.toContain(first)
  expect(await factors.useCode(first.toUpperCase().replaceAll('-', ' '))).toBe(true)
  expect(await factors.useCode(first)).toBe(false)
  expect(factors.summary().recoveryCodesLeft).toBe(9)
  const renewed = await factors.renewRecoveryCodes()
  expect(await factors.useCode(second)).toBe(false)
  expect(await factors.useCode(renewed?.[9] ?? '')).toBe(true)
  expect(facts.map(({ type, facts: { ...fact } }) => [type, fact])).toEqual([
    ['owner.factor.added', { kind: 'totp' }],
    ['owner.recovery-code.used', { left: 9 }],
    ['owner.factor.added', { kind: 'recovery_codes' }],
    ['owner.recovery-code.used', { left: 9 }],
  ])
})

test('adds an app only with a code of it, in the session that began', async () => {
  const { factors } = await enrolled()
  expect(factors.beginTotp('session')).toBeNull()
  await factors.removeTotp()
  expect(factors.needsCode()).toBe(false)
  factors.beginTotp('session')
  expect(await factors.confirmTotp('another', codeAt(ENROLLED_S))).toBe('not_begun')
  expect(await factors.confirmTotp('session', '000000')).toBe('wrong_code')
  expect(factors.needsCode()).toBe(false)
  expect(await factors.confirmTotp('session', codeAt(ENROLLED_S))).toHaveLength(10)
})
