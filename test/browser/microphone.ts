import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
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

/** Watches the microphones that the page opens from now on. With `prompt`, they open only after `allow`. */
export async function watchMicrophones(page: Page, { prompt = false } = {}) {
  await page.evaluate((waits) => {
    const microphones: (MediaStreamTrack | undefined)[] = []
    const allowed = Promise.withResolvers<void>()
    if (!waits) allowed.resolve()
    const devices = navigator.mediaDevices
    const open = devices.getUserMedia.bind(devices)
    devices.getUserMedia = async (constraints) => {
      const index = microphones.push(undefined) - 1
      await allowed.promise
      const stream = await open(constraints)
      microphones[index] = stream.getAudioTracks()[0]
      return stream
    }
    Object.assign(window, {
      allowMicrophones: allowed.resolve,
      microphoneStates: () => Array.from(microphones, (track) => track?.readyState ?? 'requested'),
      unplugMicrophones() {
        for (const track of microphones) {
          track?.stop()
          track?.dispatchEvent(new Event('ended'))
        }
      },
    })
  }, prompt)
  const call = (name: string) => page.evaluate((named) => Reflect.get(window, named)(), name)
  return {
    /** `requested`, then `live`, then `ended`; one a request. */
    states: (): Promise<readonly string[]> => call('microphoneStates'),
    allow: (): Promise<void> => call('allowMicrophones'),
    /** Scripts cannot take a device away, so the track ends as it does then. */
    unplug: (): Promise<void> => call('unplugMicrophones'),
  }
}
