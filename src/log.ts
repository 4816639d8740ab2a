import { type Logger, pino, stdSerializers } from 'pino'
import * as z from 'zod'
import type { Config } from './config.ts'
import { createLogLines, type LogLine, type LogLines, logLevels } from './log-lines.ts'

export type Log = Logger

/** Lines kept in memory for the browser. */
const KEPT_LINES = 2_000
/** Longer ones are kept without their fields, so that what is kept has a bound: 2,000 lines, 16 MB at most. */
const KEPT_LINE_CHARS = 8_000
const MASK = '[redacted]'

/** Field names that hold a secret wherever they occur, one level deep or two. */
const SECRET_FIELDS = [
  'password',
  'currentPassword',
  'newPassword',
  'token',
  'secret',
  'apiKey',
  'openaiApiKey',
  'authorization',
  'cookie',
  'set-cookie',
]

/** What keys and tokens look like, for those that are not settings (yet). */
const SECRET_SHAPES =
  /\bsk-[\w-]{12,}|\b(?:AC|SK)[0-9a-f]{32}\b|\bBearer [\w.~+/=-]{8,}|\bBasic [\w+/]{16,}={0,2}|\bdelegate_session=[\w-]+|\beyJ[\w-]{10,}(?:\.[\w-]+){0,2}/g

const lineSchema = z
  .object({ time: z.iso.datetime(), level: z.enum(logLevels), msg: z.string().default('') })
  .catchall(z.unknown())

/**
 * The service's log: JSON lines to `write`, and the newest of them in memory. No secret passes: fields by name,
 * `secretValues()` (those in force at that moment) and everything shaped like a key are masked in the finished
 * line, so that an error which quotes one is masked too.
 */
export function createLog(options: {
  readonly level: Config['logLevel']
  readonly write: (line: string) => void
  readonly secretValues: () => readonly string[]
  /** What the ids of its lines are above. */
  readonly aboveId?: number
}): { readonly log: Log; readonly lines: LogLines } {
  const lines = createLogLines(KEPT_LINES, options.aboveId)
  const log = pino(
    {
      level: options.level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_FIELDS.flatMap((name) => [`["${name}"]`, `*["${name}"]`]), censor: MASK },
      serializers: { err: stdSerializers.errWithCause, error: stdSerializers.errWithCause },
    },
    {
      write(text: string) {
        const line = mask(text, options.secretValues())
        options.write(line)
        const parsed = parseLine(line)
        // The set-up code is for those who see the process start.
        if (!('setupCode' in parsed.fields)) lines.add(parsed)
      },
    },
  )
  return { log, lines }
}

function parseLine(line: string): Omit<LogLine, 'id'> {
  try {
    const { time, level, msg, ...fields } = lineSchema.parse(JSON.parse(line))
    if (line.length <= KEPT_LINE_CHARS) return { at: time, level, message: msg, fields }
    return {
      at: time,
      level,
      message: msg.slice(0, KEPT_LINE_CHARS / 2),
      fields: { cutFromChars: line.length },
    }
  } catch (error) {
    // A secret that looks like JSON itself can break the line that it is masked in; logging must not fail for it.
    if (!(error instanceof SyntaxError) && !(error instanceof z.ZodError)) throw error
    return {
      at: new Date().toISOString(),
      level: 'info',
      message: line.trim().slice(0, KEPT_LINE_CHARS),
      fields: {},
    }
  }
}

/** Shorter ones would mask ordinary words. */
const SHORTEST_SECRET_CHARS = 6

function mask(line: string, secretValues: readonly string[]): string {
  let masked = line
  for (const secret of secretValues) {
    // As it stands within a JSON string.
    const quoted = JSON.stringify(secret).slice(1, -1)
    if (secret.length >= SHORTEST_SECRET_CHARS && masked.includes(quoted))
      masked = masked.replaceAll(quoted, MASK)
  }
  return masked.replace(SECRET_SHAPES, MASK)
}
