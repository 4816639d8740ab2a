import { parseOptions } from '@node-rs/argon2'
import { expect, test } from 'vitest'
import { newPasswordSchema } from '../../src/settings/new-password.ts'
import { isCommonPassword } from '../../src/settings/password-policy.ts'
import { createPasswords, QueueFull } from '../../src/settings/passwords.ts'

test('hashes passwords with argon2id, 19 MiB, two passes and a salt of its own each', async () => {
  const passwords = createPasswords()
  const [first, second] = [
    await passwords.hash('the same password'),
    await passwords.hash('the same password'),
  ]
  expect(first).not.toBe(second)
  expect(parseOptions(first)).toMatchObject({ algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 })
  expect(await passwords.verify('the same password', first)).toBe('right')
  expect(await passwords.verify('the same passwore', first)).toBe('wrong')
})

test('treats the same characters as the same password, however the keyboard composes them', async () => {
  const passwords = createPasswords()
  const hash = await passwords.hash('ein schöner Tag')
  expect(await passwords.verify('ein scho\u0308ner Tag', hash)).toBe('right')
})

test('asks whether a password may be tried only when its turn comes', async () => {
  const passwords = createPasswords()
  const hash = await passwords.hash('a password to check')
  let failures = 0
  const verdicts = await Promise.all(
    Array.from({ length: 8 }, () =>
      passwords.verify('wrong', hash, () => {
        failures += 1
        return failures <= 5
      }),
    ),
  )
  expect(verdicts).toEqual([...Array(5).fill('wrong'), ...Array(3).fill('refused')])
})

test('refuses at once when too many passwords wait, and accepts them again later', async () => {
  const passwords = createPasswords()
  const verify = () => passwords.verify('wrong', '', () => false)
  const verdicts = await Promise.allSettled(Array.from({ length: 303 }, verify))
  expect(verdicts.filter(({ status }) => status === 'fulfilled')).toHaveLength(302)
  expect(verdicts.at(-1)).toMatchObject({ reason: expect.any(QueueFull) })
  expect(await verify()).toBe('refused')
})

test.each([
  ['elevenchars', false],
  ['twelve chars', true],
  ['🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑🔑', false],
  ['x'.repeat(1_000), true],
  ['x'.repeat(1_001), false],
  ['x'.repeat(1_000_000), false],
])('the length of %j is valid: %j', (password, isFit) => {
  expect(newPasswordSchema.safeParse(password).success).toBe(isFit)
})

test.each([
  ['password1234', true],
  ['Password123!', true],
  ['iloveyou2024', true],
  ['adminadminadmin', true],
  ['123412341234', true],
  ['098765432109', true],
  ['abcdefghijklmnop', true],
  ['qwertzuiopasdf', true],
  ['correct horse battery staple', false],
  ['a long walk by the river', false],
  ['837465920174', false],
  ['ab12cd34ef56', false],
  ['testing-the-service', false],
])('%j is common: %j', async (password, isCommon) => {
  expect(await isCommonPassword(password)).toBe(isCommon)
})
