import { type Logger, pino, stdSerializers } from 'pino'
import * as z from 'zod'
import type { Config } from './config.ts'
import { createLogLines, type LogLine, type LogLines, logLevels } from './log-lines.ts'
import { createMask, MASK } from './mask.ts'

export type Log = Logger

/** Lines kept in memory for the browser. */
const KEPT_LINES = 2_000
/** Longer ones are kept without their fields, so that what is kept has a bound: 2,000 lines, 16 MB at most. */
const KEPT_LINE_CHARS = 8_000

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
        const line = mask.text(text)
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
