import type { IncomingMessage } from 'node:http'
import { HTTPException } from 'hono/http-exception'
import { diskCauseOf, diskRemedies } from '../../../ledger/causes.ts'
import { LedgerUnavailable } from '../../../ledger/errors.ts'
import { msg, translated } from '../../language/msg.ts'
import type { Log } from '../../lib/log.ts'
import { SecretKeyMissing } from '../../settings/errors.ts'
import { QueueFull } from '../../settings/passwords.ts'
import { pathOf } from './env.ts'
import { Refusal } from './problem.ts'

export type Faults = {
  readonly log: Log
  /** Called with any fault of the service itself that a request ran into. */
  readonly onFault: (error: unknown) => void
}

/** Maps what a route threw to a refusal. Faults of the service are reported, and answered without details. */
export function refusalOf(
  error: unknown,
  incoming: IncomingMessage,
  requestId: string,
  faults: Faults,
): Refusal {
  const reportFault = () => {
    faults.onFault(error)
    const { method } = incoming
    faults.log.error({ err: error, requestId, method, path: pathOf(incoming) }, 'A request failed')
  }
  if (error instanceof Refusal) {
    if (error.status >= 500 && error.cause !== undefined) reportFault()
    return error
  }
  if (error instanceof HTTPException && error.status < 500) {
    return error.status === 415
      ? new Refusal(400, 'unsupported_media_type', msg`The body must be application/json.`)
      : new Refusal(400, 'malformed_json', msg`The body is not valid JSON.`)
  }
  if (error instanceof QueueFull) {
    return new Refusal(429, 'too_many_requests', msg`Too many requests are waiting. Try again shortly.`, {
      headers: { 'retry-after': '5' },
    })
  }
  if (error instanceof SecretKeyMissing) {
    const names = error.settings.join(', ')
    return new Refusal(
      409,
      'secret_key_missing',
      msg`secret.key is missing. Put it back and restart Delegate. If it is lost, remove ${names} before you enter any secret.`,
    )
  }
  const { errored, destroyed, complete } = incoming
  // A request that was read to its end may be destroyed as well.
  if (errored || (destroyed && !complete)) {
    return new Refusal(408, 'request_incomplete', msg`The request was cut off before it was complete.`)
  }
  reportFault()
  const cause = error instanceof LedgerUnavailable ? error.disk : diskCauseOf(error)
  const remedy = cause === null ? '' : ` ${translated(diskRemedies[cause])}`
  if (error instanceof LedgerUnavailable) {
    const outcome = error.isUnsure
      ? msg`See whether it was done before you repeat it.`
      : msg`Nothing was done.`
    return new Refusal(
      503,
      'ledger_unavailable',
      msg`The service cannot record anything right now. ${outcome}${remedy}`,
    )
  }
  return cause !== null
    ? new Refusal(503, 'storage_unavailable', msg`The service cannot read its data right now.${remedy}`)
    : new Refusal(500, 'internal_error', msg`Something went wrong. Look for request ${requestId} in the log.`)
}
