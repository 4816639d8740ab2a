import { cpSync, existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The data directory that `write.ts` left behind. */
export const DATA = join(import.meta.dirname, 'data')
/** What reading it answered, one file a subject. */
export const TRANSCRIPTS = join(import.meta.dirname, 'transcripts')
const SESSION = join(import.meta.dirname, 'session.json')

/** What a reader needs beside the data. */
export type Session = {
  /** A session that is in force in the data, so that reading need not sign in, which would append a fact. */
  readonly cookie: string
  /** A moment right after the last fact: nothing falls due, no session is touched. */
  readonly now: string
  /** A message of the chat that can be sent again: it returns its first outcome and appends nothing. */
  readonly clientMessageId: string
}

export const sessionFile = SESSION
export function readSession(): Session {
  if (!existsSync(SESSION)) throw new Error('There is no recording. See test/recorded/write.ts.')
  return JSON.parse(readFileSync(SESSION, 'utf8')) as Session
}

const ROOT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** A copy of the data, for the caller to remove: SQLite writes beside a file that it only reads. */
export function copyData(): string {
  const directory = mkdtempSync(join(ROOT, 'delegate-recorded-'))
  cpSync(DATA, directory, { recursive: true })
  return directory
}

/** Nothing listens there, so reading cannot reach any other service. */
const NOWHERE = 'http://127.0.0.1:9'

/** The environment that the data is read with, and in which its last settings were stored. */
export const READING_ENVIRONMENT = {
  TELEPHONY_API_BASE_URL: NOWHERE,
  DEV_ROUTES: '1',
}
