import { type Http, Refused } from './http.ts'
import {
  arrayField,
  asObject,
  booleanField,
  isObject,
  type JsonObject,
  numberField,
  optionalString,
  stringField,
} from './json.ts'

/** In order of importance: a failure of an early check often causes the later ones. */
export const checkNames = [
  'ledger',
  'projections',
  'settings',
  'reactors',
  'disk',
  'model',
  'telephony',
] as const
export type CheckName = (typeof checkNames)[number]
/** Checks that are reported only. The service stays ready when they fail. */
export const reportedChecks: ReadonlySet<CheckName> = new Set(['disk', 'model', 'telephony'])
export type Check = { readonly name: CheckName; readonly ok: boolean; readonly detail: string }

export type Reactor = {
  readonly name: string
  readonly state: string
  readonly waiting: number
  readonly since: string | null
  readonly lastFailure: { readonly at: string; readonly message: string } | null
}

export type Health = { readonly checks: readonly Check[]; readonly reactors: readonly Reactor[] }

/** Omits checks that the service did not report. */
function parseChecks(checks: JsonObject): Check[] {
  return checkNames.flatMap((name) => {
    const check = checks[name]
    return isObject(check)
      ? [{ name, ok: booleanField(check, 'ok'), detail: optionalString(check, 'detail') ?? '' }]
      : []
  })
}

function parseReactor(value: unknown): Reactor {
  const reactor = asObject(value, 'reactor')
  const failure = isObject(reactor.lastFailure) ? reactor.lastFailure : null
  return {
    name: stringField(reactor, 'name'),
    state: stringField(reactor, 'state'),
    waiting: numberField(reactor, 'waiting'),
    since: optionalString(reactor, 'since'),
    lastFailure: failure && { at: stringField(failure, 'at'), message: stringField(failure, 'message') },
  }
}

/** All checks, passed or failed. Omits the `reactors` check while the service is shutting down. */
export async function fetchChecks(http: Http): Promise<readonly Check[]> {
  try {
    return parseChecks(asObject(asObject(await http('GET', '/ready'), 'readiness').checks, 'checks'))
  } catch (error) {
    if (!(error instanceof Refused) || !isObject(error.answer) || !isObject(error.answer.checks)) throw error
    const checks = parseChecks(error.answer.checks)
    return checks.filter(({ name, detail }) => name !== 'reactors' || detail !== 'stopping')
  }
}

export async function fetchHealth(http: Http): Promise<Health> {
  const health = asObject(await http('GET', '/api/session/health'), 'health')
  return {
    checks: parseChecks(asObject(health.checks, 'checks')),
    reactors: arrayField(health, 'reactors', parseReactor),
  }
}
