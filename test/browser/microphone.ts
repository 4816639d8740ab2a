import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { muLaw } from '../../src/phone/call/codec.ts'
import { wavFile } from '../../src/phone/spoken/wav.ts'
import { speech } from '../phone/call/call-harness.ts'
import { testDirectory } from '../support/directory.ts'
import { launchBrowser } from './browser.ts'

/** A recording of test/audio by its name, or silence of this many seconds. */
type Part = string | number

/** Launches a browser whose microphone plays this once, from when a page opens it, and then silence. */
export async function browserThatHears(...parts: readonly Part[]): Promise<Browser> {
  const silence = (seconds: number) => Buffer.alloc(seconds * muLaw.rate, muLaw.silence)
  const audio = Buffer.concat(parts.map((part) => (typeof part === 'number' ? silence(part) : speech(part))))
  const file = join(testDirectory(), 'microphone.wav')
  // Chromium wants a rate that devices have.
  const samples = muLaw.decode(audio)
  const rate = 48_000
  const step = rate / muLaw.rate
  const resampled = Int16Array.from(
    { length: samples.length * step },
    (_, at) => samples[Math.floor(at / step)] ?? 0,
  )
  writeFileSync(file, wavFile(rate, resampled))
  const browser = await launchBrowser([
    '--use-fake-ui-for-media-stream',
    '--use-fake-device-for-media-stream',
    `--use-file-for-fake-audio-capture=${file}%noloop`,
  ])
  onTestFinished(() => browser.close())
  return browser
}
