import { msg } from '../../language/msg.ts'
import type { Settings } from '../../settings/settings.ts'
import type { DailyLimits } from '../budgets.ts'
import type { Finding, SecurityCheck } from './check.ts'
import {
  budgetsFinding,
  deliveryFinding,
  developmentFinding,
  filesFinding,
  guestsFinding,
  signInFinding,
  type TaskIsolation,
  tasksFinding,
  webhooksFinding,
} from './checks.ts'
import { hostFinding, httpsFinding, proxyFinding } from './network.ts'

export type SecuritySources = {
  readonly directory: string
  readonly settings: Pick<Settings, 'get' | 'webhookToken'>
  /** What was given to the process at its start. */
  readonly config: {
    readonly host: string
    readonly devRoutes: boolean
    readonly ledgerDebug: boolean
    readonly itemsDebug: boolean
    readonly dailyLimits: DailyLimits
  }
  readonly isolation: () => Promise<TaskIsolation>
  /** Whether the service is installed, but has no password. */
  readonly lacksPassword: () => boolean
  /** What protects sign-in besides the password. */
  readonly signInFactors: () => readonly ('totp' | 'passkey')[]
}

/** What only the running service sees. */
export type Seen = {
  /** Where the owner's browser opened the page; null if nobody did. */
  readonly origin: string | null
  /** Peers that forward requests and that TRUSTED_PROXY does not list; null if unknown. */
  readonly undeclaredProxies: readonly string[] | null
}

const RANK = { problem: 0, warning: 1, ok: 2 } as const

/** All checks, the worst first. */
export async function checkSecurity(sources: SecuritySources, seen: Seen): Promise<SecurityCheck[]> {
  const { settings, config, signInFactors } = sources
  const publicUrl = settings.get('PUBLIC_URL')
  const reach = { host: config.host, publicUrl, origin: seen.origin }
  const proxies = { publicUrl, trusted: settings.get('TRUSTED_PROXY'), undeclared: seen.undeclaredProxies }
  const found: readonly (readonly [id: string, title: string, finding: Finding])[] = [
    ['https', msg`Encryption`, httpsFinding(reach)],
    ['host', msg`Address`, hostFinding(reach)],
    ['proxy', msg`Proxy`, proxyFinding(proxies)],
    ['sign_in', msg`Sign-in`, signInFinding(signInFactors(), sources.lacksPassword())],
    ['files', msg`Files`, filesFinding(sources.directory)],
    ['tasks', msg`Isolation of tasks`, tasksFinding(await sources.isolation())],
    ['webhooks', msg`Calls and texts`, webhooksFinding(settings)],
    ['delivery', msg`Webhook for outcomes`, deliveryFinding(settings)],
    ['budgets', msg`Daily limits`, budgetsFinding(config.dailyLimits)],
    ['guests', msg`Strangers`, guestsFinding(settings, config.dailyLimits)],
    ['development', msg`Development`, developmentFinding(config)],
  ]
  return found
    .map(([id, title, finding]) => ({ id, title, ...finding }))
    .sort((a, b) => RANK[a.status] - RANK[b.status])
}
