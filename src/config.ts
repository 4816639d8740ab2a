import { resolve } from 'node:path'
import * as z from 'zod'
import { type AnySettingValue, parseSetting, type SettingKey, settingKeys } from './settings/registry.ts'

/** What the process is given once, at its start. Everything that may change while it runs is a setting. */
export type Config = {
  /** 0 lets the system choose. */
  readonly port: number
  readonly host: string
  /** Absolute. */
  readonly dataDir: string
  readonly logLevel: z.output<typeof logLevelSchema>
  /** One line for each appended event, without its content. */
  readonly ledgerDebug: boolean
  /** One line for each item of the context given to the model, without its content. */
  readonly itemsDebug: boolean
  readonly devRoutes: boolean
  /**
   * Program and arguments of the coding assistant; null without one. From the environment only: a stolen session
   * must not become code execution.
   */
  readonly copilotCommand: readonly string[] | null
  /** What the coding assistant inherits of the environment: nothing of what the service is given for itself. */
  readonly copilotEnvironment: Readonly<Record<string, string>>
  /**
   * What may be spent in a day, whoever asks; null where there is no limit. From the environment only: a stolen session
   * must not lift it.
   */
  readonly dailyLimits: {
    readonly tokens: number | null
    readonly texts: number | null
    readonly calls: number | null
  }
  /** Settings that the environment gives, already checked; a stored value wins over them. */
  readonly settings: ReadonlyMap<SettingKey, AnySettingValue>
}

/** The environment does not say what it must. `problems` has one line a variable, and none of their values. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(`The environment is not valid:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
    this.problems = problems
  }
}

const logLevelSchema = z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])

const portSchema = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a port number from 0 to 65535')
  .transform(Number)
  .pipe(z.int().max(65_535, 'must be a port number from 0 to 65535'))

const flagSchema = z
  .enum(['1', 'true', '0', 'false'], 'must be 1 or 0')
  .transform((text) => text === '1' || text === 'true')

/** 0 allows nothing at all, so a limit is lifted by a word. */
const limitSchema = z
  .string()
  .trim()
  .regex(/^(?:\d{1,12}|unlimited)$/i, 'must be a whole number or "unlimited"')
  .transform((text) => (/^\d/.test(text) ? Number(text) : null))
  .nullable()

const commandSchema = z.string().transform((text, context) => {
  const command = z.tuple([z.string().min(1)], z.string()).safeParse(parseJson(text))
  if (command.success) return command.data
  context.addIssue('must be a JSON array of a program and its arguments, like ["copilot", "-p"]')
  return z.NEVER
})

/** What the process is given at its start; it takes a restart to change it. The descriptions are the guide's. */
const environmentSchema = z.object({
  PORT: portSchema.default(8081).describe('The port that it listens on.'),
  HOST: z
    .string()
    .default('127.0.0.1')
    .describe('The address that it listens on; 0.0.0.0 for every one of the machine.'),
  DATA_DIR: z.string().default('./data').describe('The directory that holds everything.'),
  LOG_LEVEL: logLevelSchema
    .default('info')
    .describe('The least serious lines that are logged: trace, debug, info, warn, error, fatal, silent.'),
  LEDGER_DEBUG: flagSchema
    .default(false)
    .describe(
      '1: a line for each event with its seq, type, size and the time of each fold; never its words.',
    ),
  ITEMS_DEBUG: flagSchema
    .default(false)
    .describe('1: a line for each item that goes to the model and comes back, by kind and size.'),
  DEV_ROUTES: flagSchema.default(false).describe("1: the developers' routes."),
  COPILOT_COMMAND: commandSchema
    .nullable()
    .default(null)
    .describe('The coding assistant, as a JSON array of a program and its arguments.'),
  DAILY_TOKENS: limitSchema
    .default(10_000_000)
    .describe(
      'Tokens of the model service, in and out, that may be used in any 24 hours, by turns, by learning from them and by keeping the context short (not by embeddings and calls); then the delegate answers no more and says so. `unlimited`: no limit.',
    ),
  DAILY_TEXTS: limitSchema
    .default(500)
    .describe(
      'Texts that may leave in any 24 hours, or `unlimited`; those beyond fail and are shown as such.',
    ),
  DAILY_CALLS: limitSchema
    .default(200)
    .describe(
      'Calls that are taken in any 24 hours, whoever phones, or `unlimited`; those beyond hear that it is enough for today.',
    ),
})

/** The process's own variables: name, default as it would be written, meaning. */
export const processVariables = Object.entries(environmentSchema.shape).map(([name, schema]) => {
  const value = schema.parse(undefined)
  return {
    name,
    default: value === null ? null : typeof value === 'boolean' ? String(Number(value)) : String(value),
    description: schema.description ?? '',
  }
})

/**
 * Reads the environment. A variable that is set but empty counts as not set, which is how env files leave one
 * out. Throws ConfigError, which names every variable that is wrong, not only the first.
 */
export function loadConfig(environment: Readonly<Record<string, string | undefined>> = process.env): Config {
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value?.trim()))
  const problems: string[] = []
  const parsed = environmentSchema.safeParse(present)
  for (const issue of parsed.error?.issues ?? []) problems.push(`${issue.path.join('.')} ${issue.message}`)

  const settings = new Map<SettingKey, AnySettingValue>()
  for (const key of settingKeys) {
    const text = present[key]
    if (text === undefined) continue
    const result = parseSetting(key, text)
    if (result.ok) settings.set(key, result.value)
    else problems.push(`${key} ${result.message}`)
  }

  if (!parsed.success || problems.length > 0) throw new ConfigError(problems)
  const { data } = parsed
  return {
    port: data.PORT,
    host: data.HOST,
    dataDir: resolve(data.DATA_DIR),
    logLevel: data.LOG_LEVEL,
    ledgerDebug: data.LEDGER_DEBUG,
    itemsDebug: data.ITEMS_DEBUG,
    devRoutes: data.DEV_ROUTES,
    copilotCommand: data.COPILOT_COMMAND,
    copilotEnvironment: withoutOwn(environment),
    dailyLimits: { tokens: data.DAILY_TOKENS, texts: data.DAILY_TEXTS, calls: data.DAILY_CALLS },
    settings,
  }
}

/** The environment without the variables of the service itself, its secrets among them. */
function withoutOwn(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const own = new Set<string>([...Object.keys(environmentSchema.shape), ...settingKeys])
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value === undefined || own.has(name) ? [] : [[name, value]],
    ),
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
