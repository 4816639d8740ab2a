import { cpSync, existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The data directory that `write.ts` created. */
export const DATA = join(import.meta.dirname, 'data')
/** The recorded responses, one file per subject. */
export const TRANSCRIPTS = join(import.meta.dirname, 'transcripts')
const SESSION = join(import.meta.dirname, 'session.json')

/** What a reader needs besides the data. */
export type Session = {
  /** The cookie of a valid session, because signing in would append a fact. */
  readonly cookie: string
  /** A moment right after the last fact, at which no timer is due and no session is updated. */
  readonly now: string
  /** A chat message that was already sent: sending it again returns its outcome and appends nothing. */
  readonly clientMessageId: string
}

export const sessionFile = SESSION
export function readSession(): Session {
  if (!existsSync(SESSION)) throw new Error('There is no recording. See test/recorded/write.ts.')
  return JSON.parse(readFileSync(SESSION, 'utf8')) as Session
}

const ROOT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** A copy of the data, which the caller removes. SQLite creates files even when it only reads. */
export function copyData(): string {
  const directory = mkdtempSync(join(ROOT, 'delegate-recorded-'))
  cpSync(DATA, directory, { recursive: true })
  return directory
}

/** Nothing listens there, so that reading reaches no other service. */
const NOWHERE = 'http://127.0.0.1:9'

/** The environment in which the data is read and its last settings were stored. */
export const READING_ENVIRONMENT = {
  TELEPHONY_API_BASE_URL: NOWHERE,
  DEV_ROUTES: '1',
}
