// @module-tag long

import { test } from 'vitest'
import { hasProgram } from '../support/programs.ts'
import { useBrowser } from './browser.ts'
import { takeOver } from './takeover.ts'

const browser = useBrowser()
const hasCaddy = hasProgram('caddy')

const title = 'goes on by itself on another machine after kill -9, with everything once, behind'

test.skipIf(!hasCaddy)(`${title} Caddy`, async () => {
  await takeOver(browser(), { leaseSeconds: 2, proxy: 'caddy' })
})

test(`${title} a proxy of our own`, async () => {
  await takeOver(browser(), { leaseSeconds: 2, proxy: 'own' })
})

test('goes on by itself on another machine within 12 s of kill -9, with the real lease of 8 s', async () => {
  const proxy = hasCaddy ? 'caddy' : 'own'
  const tookMs = await takeOver(browser(), { leaseSeconds: 8, proxy })
  console.info(`takeover after ${Math.round(tookMs)} ms, behind ${proxy}`)
})
