import type { Checks } from '../../../src/http/contract/health.ts'
import { Refused } from './http.ts'
import type { Http } from './routes.ts'

export type CheckName = keyof Checks
export type Check = {
  readonly name: CheckName
  readonly ok: boolean
  readonly off: boolean
  readonly detail: string
}

/**
 * In order of importance: a failure of an early check often causes the later ones. Some are reported only: the service
 * stays ready when they fail.
 */
const isReportedOnly: Readonly<Record<CheckName, boolean>> = {
  ledger: false,
  postgres: true,
  projections: false,
  settings: false,
  secrets: true,
  reactors: false,
  disk: true,
  model: true,
  backups: true,
  telephony: true,
}
const checkNames = Object.keys(isReportedOnly) as readonly CheckName[]

export const reportedChecks: ReadonlySet<CheckName> = new Set(
  checkNames.filter((name) => isReportedOnly[name]),
)

/** The checks as a list. Omits those that the service did not report. */
export function checksOf(checks: Checks): readonly Check[] {
  return checkNames.flatMap((name) => {
    const check = checks[name]
    return check ? [{ name, ok: check.ok, off: 'off' in check, detail: check.detail ?? '' }] : []
  })
}

/** All checks, passed or failed. Omits the `reactors` check while the service is shutting down. */
export async function fetchChecks(http: Http): Promise<readonly Check[]> {
  try {
    return checksOf((await http.get('/ready')).checks)
  } catch (error) {
    if (!(error instanceof Refused) || error.problem.code !== 'not_ready') throw error
    const { checks } = error.problem as typeof error.problem & { readonly checks: Checks }
    return checksOf(checks).filter(({ name, detail }) => name !== 'reactors' || detail !== 'stopping')
  }
}
