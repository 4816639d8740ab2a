import { type LevelWithSilent, type Logger, pino, stdSerializers } from 'pino'
import * as z from 'zod'
import { asCalled } from './as-called.ts'
import { createLogLines, type LogLine, type LogLines, logLevels } from './log-lines.ts'
import { createMask, MASK } from './mask.ts'

export type Log = Logger

/** Lines kept in memory for the browser. */
const KEPT_LINES = 2_000
/** Longer lines are kept without their fields, to bound memory: 2,000 lines, at most 16 MB. */
const KEPT_LINE_CHARS = 8_000

/** Fields that hold a secret, at the first or second level. */
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

const lineSchema = z
  .object({ time: z.iso.datetime(), level: z.enum(logLevels), msg: z.string().default('') })
  .catchall(z.unknown())

/**
 * The service's log: JSON lines to `write`, and the newest of them in memory. Masks secret fields by name,
 * the current `secretValues()` and anything shaped like a key. It masks the finished line, so that errors
 * which quote a secret are covered too.
 */
export function createLog(options: {
  readonly level: LevelWithSilent
  readonly write: (line: string) => void
  readonly secretValues: () => readonly string[]
  /** Line ids start above this. */
  readonly aboveId?: number
}): { readonly log: Log; readonly lines: LogLines } {
  const mask = createMask(options.secretValues)
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
        const line = asCalled(mask.text(text))
        options.write(line)
        const parsed = parseLine(line)
        // The set-up code is only for people who see the process start.
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
    // Masking a secret that contains JSON syntax can break the line. Logging must not fail then.
    if (!(error instanceof SyntaxError) && !(error instanceof z.ZodError)) throw error
    return {
      at: new Date().toISOString(),
      level: 'info',
      message: line.trim().slice(0, KEPT_LINE_CHARS),
      fields: {},
    }
  }
}
