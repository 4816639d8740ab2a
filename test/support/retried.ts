import type { Reporter, TestCase } from 'vitest/node'

/** Names the tests that passed only when tried again: each has a race to be mended. */
export function nameRetried(): Reporter {
  const retried: TestCase[] = []
  return {
    onTestCaseResult(test) {
      if (test.diagnostic()?.flaky) retried.push(test)
    },
    onTestRunEnd() {
      for (const { module, fullName } of retried)
        process.stderr.write(`passed only when tried again: ${module.relativeModuleId} > ${fullName}\n`)
    },
  }
}
