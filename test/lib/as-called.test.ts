import { afterEach, expect, test, vi } from 'vitest'
import { asCalled } from '../../src/lib/as-called.ts'

afterEach(() => void vi.unstubAllEnvs())

const cases = [
  ['run npm run ledger:verify, then npm run restore', 'run delegate verify, then delegate restore'],
  ['npm run engine:repair -- --push-local.', 'delegate engine repair --push-local.'],
  ['npm run script:create-app', 'delegate telephony create-app'],
  ['Run "npm run build:web".', 'Run "npm run build:web".'],
] as const

test.each(cases)('names the commands of "%s" as they were called', (text, called) => {
  vi.stubEnv('DELEGATE_CLI', undefined)
  expect(asCalled(text)).toBe(text)
  vi.stubEnv('DELEGATE_CLI', '1')
  expect(asCalled(text)).toBe(called)
})
