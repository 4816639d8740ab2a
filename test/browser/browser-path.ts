import { existsSync } from 'node:fs'

/** The usual paths of a Chromium where npm has none. */
const systemBrowsers = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/**
 * The Chromium of `CHROMIUM_PATH`, or from npm, or of the system. The one from npm is a headless shell for Linux on
 * x64, which opens a page in under half the processor time of a desktop's Chromium.
 */
export async function browserPath(): Promise<string> {
  if (process.env.CHROMIUM_PATH !== undefined) return process.env.CHROMIUM_PATH
  if (process.platform === 'linux' && process.arch === 'x64') {
    const { default: packed } = await import('@sparticuz/chromium')
    return packed.executablePath()
  }
  const path = systemBrowsers.find((path) => existsSync(path))
  if (path === undefined) throw new Error('no Chromium found: set CHROMIUM_PATH')
  return path
}

/** Unpacks the browser once, before the workers of the tests start. */
export default async function setup(): Promise<void> {
  process.env.CHROMIUM_PATH = await browserPath()
}
