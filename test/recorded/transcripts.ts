import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TRANSCRIPTS } from './places.ts'

/** Whether the transcripts are written instead of compared. */
export const isRecording = process.env.RECORD === '1'

const fileOf = (name: string) => join(TRANSCRIPTS, `${name}.json`)

export function readTranscript<T>(name: string): T {
  if (!existsSync(fileOf(name)))
    throw new Error(`There is no transcript ${name}. Record it: RECORD=1 npx vitest run test/recorded`)
  return JSON.parse(readFileSync(fileOf(name), 'utf8')) as T
}

export function writeTranscript(name: string, content: unknown): void {
  mkdirSync(TRANSCRIPTS, { recursive: true })
  writeFileSync(fileOf(name), `${JSON.stringify(content, null, 1)}\n`)
}
