import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import * as z from 'zod'
import { ADAPTATIONS_DIRECTORY } from './adaptations/files.ts'
import {
  type AnySettingValue,
  parseSetting,
  type SettingKey,
  settingKeys,
  variableOf,
} from './settings/registry.ts'
import { SETTINGS_FILE } from './settings/store.ts'
import type { PostgresOptions } from './storage/postgres/options.ts'

/** The configuration of the process, fixed at its start. Whatever may change at runtime is a setting. */
export type Config = ReturnType<typeof loadConfig>

/** The environment is not valid. `problems` has one line per variable, without its value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(`The environment is not valid:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
    this.problems = problems
  }
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
const logLevelSchema = z.enum(logLevels, `must be one of ${logLevels.join(', ')}`)

const portSchema = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a port number from 0 to 65535')
  .transform(Number)
  .pipe(z.int().max(65_535, 'must be a port number from 0 to 65535'))

const flagSchema = z
  .enum(['1', 'true', '0', 'false'], 'must be 1 or 0')
  .transform((text) => text === '1' || text === 'true')

/** `unlimited` lifts a limit; 0 allows nothing. */
const limitSchema = z
  .string()
  .trim()
  .regex(/^(?:\d{1,12}|unlimited)$/i, 'must be a whole number or "unlimited"')
  .transform((text) => (/^\d/.test(text) ? Number(text) : null))
  .nullable()

/** Host names without ports, in lower case. */
const hostsSchema = z.string().transform((text, context): readonly string[] => {
  const hosts = text.split(',').map((host) => host.trim().toLowerCase())
  if (!hosts.every((host) => /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/.test(host)))
    context.addIssue('must be host names without ports, separated by commas')
  return hosts
})

const commandSchema = z.string().transform((text, context): readonly string[] => {
  try {
    return z.tuple([z.string().min(1)], z.string()).parse(JSON.parse(text))
  } catch {
    context.addIssue('must be a JSON array of a program and its arguments, like ["copilot", "-p"]')
    return z.NEVER
  }
})

const postgresUrlSchema = z.string().regex(/^postgres(ql)?:\/\/\S+$/, 'must begin with postgres://')

/** The variables of the process. The operator's guide shows their descriptions. */
const environmentSchema = z.object({
  PORT: portSchema.default(8081).describe('The port to listen on.'),
  HOST: z
    .string()
    .default('127.0.0.1')
    .describe('The address to listen on; 0.0.0.0 for all addresses of the machine.'),
  ALLOWED_HOSTS: hostsSchema
    .nullable()
    .default(null)
    .describe(
      'Further host names to answer under, separated by commas. Loopback names, IP addresses, HOST and the host of PUBLIC_URL always work.',
    ),
  DATA_DIR: z.string().default('./data').describe('The directory for all data.'),
  LOG_LEVEL: logLevelSchema
    .default('info')
    .describe('The lowest level to log: trace, debug, info, warn, error, fatal, silent.'),
  LEDGER_DEBUG: flagSchema
    .default(false)
    .describe('1 logs a line for each event, with its seq, type, size and fold times, never its words.'),
  ITEMS_DEBUG: flagSchema
    .default(false)
    .describe('1 logs a line for each item sent to or received from the model, with its kind and size.'),
  LEDGER_POSTGRES_URL: postgresUrlSchema
    .nullable()
    .default(null)
    .describe(
      'Connection URL of a PostgreSQL that keeps the ledger, too. With several hosts (`one:5432,two:5432`), the primary is used. Other machines need TLS.',
    ),
  LEDGER_POSTGRES_MODE: z
    .enum(['follow', 'commit'], 'must be follow or commit')
    .nullable()
    .default(null)
    .describe(
      '`follow` copies the ledger within a second. `commit` acknowledges only what PostgreSQL has committed, and lets another machine take over. See [Beyond one machine](beyond-one-machine.md).',
    ),
  LEDGER_NODE: z
    .string()
    .regex(/^[\w.-]{1,60}$/, 'must be a short name')
    .nullable()
    .default(null)
    .describe(
      'The name of this machine among those that share the ledger. The default is its host name, so two on one host need it.',
    ),
  LEDGER_LEASE_SECONDS: z.coerce
    .number()
    .min(0.5, 'must be at least 0.5')
    .max(60, 'must be at most 60')
    .default(8)
    .describe('With `commit`, how long a machine that stops answering keeps others from taking over.'),
  UPGRADE_WITHOUT_BACKUP: flagSchema
    .default(false)
    .describe(
      '1 lets a new build start without the backup that it makes first, for example if the disk has no room for it.',
    ),
  DEV_ROUTES: flagSchema.default(false).describe('1 enables the development routes.'),
  METRICS_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{16,}$/, 'must be at least 16 characters without spaces')
    .nullable()
    .default(null)
    .describe(
      'Lets a monitor on another machine read `/metrics`, with `Authorization: Bearer` and this token of at least 16 characters. See [Monitoring](monitoring.md).',
    ),
  COPILOT_COMMAND: commandSchema
    .nullable()
    .default(null)
    .describe('Program and arguments of the coding assistant, as a JSON array.'),
  TASK_ISOLATION: z
    .enum(['auto', 'bubblewrap', 'user', 'none'], 'must be auto, bubblewrap, user or none')
    .default('auto')
    .describe(
      "How programs of tasks are kept from the service's data and environment: `bubblewrap`, `user` (see TASK_USER) or `none`. `auto` takes the first that works and runs the program without isolation if none does.",
    ),
  TASK_USER: z
    .string()
    .trim()
    .regex(/^[\w.][\w.-]*\$?$/, 'must be the name of an account')
    .nullable()
    .default(null)
    .describe('Account that programs of tasks run as. The service must run as root.'),
  BACKUP_COMMAND: z
    .string()
    .nullable()
    .default(null)
    .describe(
      'Shell command that runs after each change of the backup directory, with BACKUP_DIRECTORY and BACKUP_FILE (the newest backup) in its environment, like `rclone sync "$BACKUP_DIRECTORY" remote:delegate`.',
    ),
  DAILY_TOKENS: limitSchema
    .default(10_000_000)
    .describe(
      'Input and output tokens that turns, learning and compaction may use in any 24 hours; embeddings and calls do not count. Once they are used up, the delegate stops answering and says so. `unlimited` lifts the limit.',
    ),
  DAILY_TEXTS: limitSchema
    .default(500)
    .describe(
      'Texts that may be sent in any 24 hours. Further texts fail and are shown as failed. `unlimited` lifts the limit.',
    ),
  DAILY_CALLS: limitSchema
    .default(200)
    .describe(
      'Calls answered in any 24 hours, from anyone. Further callers are asked to try again tomorrow. `unlimited` lifts the limit.',
    ),
})

/** The variables of the process: name, default as it would be written, description. */
export const processVariables = Object.entries(environmentSchema.shape).map(([name, schema]) => {
  const value = schema.parse(undefined)
  return {
    name,
    default: value === null ? null : typeof value === 'boolean' ? String(Number(value)) : String(value),
    description: schema.description ?? '',
  }
})

/** Empty variables count as unset. Throws ConfigError, which lists all invalid variables. */
export function loadConfig(environment: Readonly<Record<string, string | undefined>> = process.env) {
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value?.trim()))
  const problems: string[] = []
  const parsed = environmentSchema.safeParse(present)
  for (const issue of parsed.error?.issues ?? []) problems.push(`${issue.path.join('.')} ${issue.message}`)

  const settings = new Map<SettingKey, AnySettingValue>()
  for (const key of settingKeys) {
    const text = present[variableOf(key)]
    if (text === undefined) continue
    const result = parseSetting(key, text)
    if (result.ok) settings.set(key, result.value)
    else problems.push(`${variableOf(key)} ${result.message}`)
  }

  if (parsed.data?.LEDGER_POSTGRES_MODE && parsed.data.LEDGER_POSTGRES_URL === null)
    problems.push('LEDGER_POSTGRES_MODE needs LEDGER_POSTGRES_URL')
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems)
  const { data } = parsed
  return {
    /** 0 lets the system choose. */
    port: data.PORT,
    host: data.HOST,
    /**
     * Environment only: a stolen session must not open the service to another name. The operator chose HOST, too, and
     * the link for the set-up names it.
     */
    allowedHosts: [
      ...(data.ALLOWED_HOSTS ?? []),
      ...(isIP(data.HOST) === 0 ? [data.HOST.toLowerCase()] : []),
    ],
    /** Absolute. */
    dataDir: resolve(data.DATA_DIR),
    logLevel: data.LOG_LEVEL,
    ledgerDebug: data.LEDGER_DEBUG,
    itemsDebug: data.ITEMS_DEBUG,
    devRoutes: data.DEV_ROUTES,
    /** Null if only this machine may read the metrics. */
    metricsToken: data.METRICS_TOKEN,
    /** Null if the ledger is kept here only. */
    postgres:
      data.LEDGER_POSTGRES_URL === null
        ? null
        : {
            url: data.LEDGER_POSTGRES_URL,
            mode: data.LEDGER_POSTGRES_MODE,
            node: data.LEDGER_NODE ?? hostname(),
            leaseMs: Math.round(data.LEDGER_LEASE_SECONDS * 1000),
            state: { database: SETTINGS_FILE, directory: ADAPTATIONS_DIRECTORY },
          },
    upgradeWithoutBackup: data.UPGRADE_WITHOUT_BACKUP,
    /** Null if there is none. Environment only: a stolen session must not become code execution. */
    copilotCommand: data.COPILOT_COMMAND,
    /** Environment only, like the command that it confines. */
    taskIsolation: { choice: data.TASK_ISOLATION, user: data.TASK_USER },
    /** Null if there is none. Environment only, like the other command. */
    backupCommand: data.BACKUP_COMMAND,
    /** No variable: tests set less, which would let others guess a passphrase. The default of `age`. */
    backupWorkFactor: 18,
    /** The environment of both commands, without the service's own variables. */
    copilotEnvironment: withoutOwn(environment),
    /** For everyone; null if unlimited. Environment only: a stolen session must not lift them. */
    dailyLimits: { tokens: data.DAILY_TOKENS, texts: data.DAILY_TEXTS, calls: data.DAILY_CALLS },
    /** Settings from the environment, already checked. A stored value takes precedence. */
    settings,
  }
}

/** How the ledger is kept in PostgreSQL; null if it is kept here only. */
export function postgresOf({ postgres }: Config): PostgresOptions | null {
  return postgres?.mode ? { ...postgres, mode: postgres.mode } : null
}

/** The environment without the service's own variables, which include its secrets. */
function withoutOwn(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const own = new Set<string>([...Object.keys(environmentSchema.shape), ...settingKeys.map(variableOf)])
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value === undefined || own.has(name) ? [] : [[name, value]],
    ),
  )
}
