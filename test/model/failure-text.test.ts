import { expect, test } from 'vitest'
import { failureText, failureTextOf } from '../../src/model/failure-text.ts'
import { ModelError } from '../../src/model/port.ts'

test.each([
  [null, failureText.rate_limited],
  [0, 'The model service is limiting my requests. Please try again in 2 seconds.'],
  [20_000, 'The model service is limiting my requests. Please try again in 20 seconds.'],
  [61_000, 'The model service is limiting my requests. Please try again in 61 seconds.'],
  [3_600_000, 'The model service is limiting my requests. Please try again in 60 minutes.'],
  [8 * 3_600_000, 'The model service is limiting my requests. Please try again in 8 hours.'],
])('says when a service that limits requests may be asked again (%s ms)', (retryAfterMs, text) => {
  expect(failureTextOf('rate_limited', new ModelError('rate_limited', '', { retryAfterMs }))).toBe(text)
})
