import type { Kysely } from 'kysely'
import type { ViewsTables } from '../../projections/tables.ts'
import type { Adaptations } from '../adaptations/index.ts'
import type { Agent } from '../agent/index.ts'
import type { Backups } from '../backups/index.ts'
import type { Erasures } from '../erasing/erasures.ts'
import type { Halt } from '../halt/index.ts'
import type { Imports } from '../imports/index.ts'
import type { Log } from '../lib/log.ts'
import type { LogLines } from '../lib/log-lines.ts'
import type { Memory } from '../memory/index.ts'
import type { Metrics } from '../metrics/index.ts'
import type { ModelId, ModelService } from '../model/port.ts'
import type { ModelHolder } from '../model/service.ts'
import type { Notes } from '../notes/notes.ts'
import type { NoteRenderer } from '../notes/renderer.ts'
import type { Notifications } from '../notifications/index.ts'
import type { Operations } from '../operations/index.ts'
import type { SecurityCheck } from '../operations/security/check.ts'
import type { SecuritySources, Seen } from '../operations/security/security.ts'
import type { Outbound } from '../outbound/index.ts'
import type { Phone } from '../phone/index.ts'
import type { TelephonyApi } from '../phone/line/api.ts'
import type { OwnerState } from '../settings/index.ts'
import type { Texts } from '../sms/index.ts'
import type { Storage } from '../storage/storage.ts'
import type { Tasks } from '../tasks/index.ts'
import type { Timeline } from '../timeline/index.ts'
import type { Timers } from '../timers/index.ts'
import type { BuildInfo } from './contract/health.ts'
import type { CheckHealth } from './routes/health.ts'
import type { ProviderWebhooks } from './routes/provider-webhook.ts'
import type { TestConnection } from './routes/settings.ts'
import type { IntrusionCounter } from './server/intrusion-counter.ts'
import type { SignInThrottle } from './server/sign-in-throttle.ts'
import type { StaticFiles } from './server/static-files.ts'
import type { StepUp } from './server/step-up.ts'

/** Everything that the service shows to clients. */
export type Features = {
  readonly storage: Storage
  readonly kysely: Kysely<ViewsTables>
  readonly owner: OwnerState
  readonly halt: Halt
  readonly model: () => ModelService
  readonly models: ModelHolder
  readonly agent: Agent
  readonly memory: Memory
  readonly erasures: Erasures
  readonly backups: Backups
  readonly imports: Imports
  readonly timeline: Timeline
  readonly adaptations: Adaptations
  readonly notes: Notes & { readonly renderer: NoteRenderer }
  readonly timers: Timers
  readonly notifications: Notifications
  readonly tasks: Tasks
  readonly telephony: TelephonyApi
  readonly phone: Phone
  readonly texts: Texts
  readonly outbound: Outbound
  readonly operations: Operations
  readonly metrics: Metrics
  readonly openConversationId: () => string | undefined
  /** The model in use, for readiness. */
  readonly answering: () => ModelId
  readonly directory: string
  readonly devRoutes: boolean
  /** What the process was given at its start, for the security checks. */
  readonly config: SecuritySources['config']
  /** Null if only this machine may read the metrics. */
  readonly metricsToken: string | null
  /** Further names that requests may address the service by. */
  readonly allowedHosts: readonly string[]
  readonly nowMs: () => number
  readonly newId: () => string
  readonly log: Log
  readonly logLines: LogLines
  readonly buildInfo: BuildInfo
  readonly staticFiles: StaticFiles
}

/** What the routes of the features may use. */
export type RouteDeps = Features & {
  readonly intrusions: IntrusionCounter
  readonly webhooks: ProviderWebhooks
  /** Aborted when the service stops, so that endless streams end. */
  readonly stopping: AbortSignal
  /** Aborted with the refusal for what waits for a turn, once no more turns run. */
  readonly ending: AbortSignal
}

/** What the routes of the service itself may use. */
export type CoreDeps = Pick<
  OwnerState,
  'account' | 'factors' | 'language' | 'passkeys' | 'sessions' | 'settings'
> &
  Pick<
    RouteDeps,
    'buildInfo' | 'halt' | 'intrusions' | 'logLines' | 'models' | 'staticFiles' | 'stopping'
  > & {
    readonly checkHealth: CheckHealth
    readonly checkSecurity: (seen: Seen) => Promise<SecurityCheck[]>
    readonly testConnection: TestConnection
    readonly throttle: SignInThrottle
    readonly stepUp: StepUp
    readonly undeclaredProxies: () => readonly string[]
  }
