import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { startWithModel } from './model.ts'
import { desk, phone, visit, words } from './page.ts'

const browser = useBrowser()

const looks = [
  { name: 'desktop, light', viewport: desk, colorScheme: 'light' },
  { name: 'phone, dark', viewport: phone, colorScheme: 'dark' },
] as const

for (const { name, ...context } of looks) {
  test(`forms with errors and the empty timeline are accessible (${name})`, {
    tags: context.viewport === phone ? ['long'] : [],
  }, async () => {
    const fresh = await startWholeService({ installed: false })
    const install = await visit(browser(), fresh, { signedIn: false, context })
    await install.getByRole('button', { name: 'Set up' }).click()
    await install.locator('[aria-invalid=true]').first().waitFor()
    expect(await findings(install)).toEqual([])

    const service = await startWholeService()
    const login = await visit(browser(), service, { signedIn: false, context })
    await login.getByRole('button', { name: 'Sign in' }).click()
    await login.locator('[aria-invalid=true]').first().waitFor()
    expect(await findings(login)).toEqual([])
    const home = await visit(browser(), service, { context })
    await home.getByRole('heading', { name: 'I’m your delegate' }).waitFor()
    expect(await findings(home)).toEqual([])
  })

  test(`the timeline is accessible, folded and unfolded (${name})`, {
    tags: context.viewport === phone ? ['long'] : [],
  }, async () => {
    const { service, model } = await startWithModel()
    const table = '| a | b |\n|---|---|\n| 1 | 2 |'
    model.reply({
      text: `# Title\n\nWords, \`code\` and a [link](https://example.com).\n\n> quoted\n\n${table}`,
    })
    await service.client.post('/api/chat', { content: 'Show me everything' })
    model.reply({ refusal: 'No.' })
    await service.client.post('/api/chat', { content: 'And a failure' })
    const page = await visit(browser(), service, { context })
    await words(page, 'Delegate', 'Title').waitFor()
    expect(await findings(page)).toEqual([])

    await page.locator('.activity .fold').first().click()
    await page.locator('.step-row .fold').first().click()
    await page.locator('.step-row .fold[aria-expanded=true]').first().waitFor()
    expect(await findings(page)).toEqual([])
  })
}

test('fits long words, code and tables on a phone', { tags: ['long'] }, async () => {
  const { service, model } = await startWithModel()
  const long = 'Donaudampfschifffahrtsgesellschaftskapitän'.repeat(8)
  model.reply({
    text: `${long}\n\n\`\`\`\n${long}\n\`\`\`\n\n|${' column |'.repeat(12)}\n|${'---|'.repeat(12)}`,
  })
  await service.client.post('/api/chat', { content: long })
  const page = await visit(browser(), service, { context: { viewport: phone } })
  await words(page, 'Delegate', long).waitFor()
  const scroller = page.getByRole('region', { name: 'Timeline' })
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(phone.width)
  await expect.poll(() => scroller.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0)
})

test('distinguishes switches, pressed buttons and chart lines with forced colours', {
  tags: ['long'],
}, async () => {
  const service = await startWholeService()
  const { client } = service
  await client.post('/api/adaptations/on', { title: 'On', content: 'Be brief.' })
  await client.post('/api/adaptations/off', { title: 'Off', content: 'Be long.', enabled: false })
  await client.post('/api/chat', { content: 'Hello' })
  const page = await visit(browser(), service, { path: '/adaptations', context: { forcedColors: 'active' } })
  const look = (title: string) =>
    page.getByRole('switch', { name: title }).evaluate((element) => ({
      background: getComputedStyle(element).backgroundColor,
      knob: getComputedStyle(element, '::after').backgroundColor,
    }))
  await page.getByRole('switch').nth(1).waitFor()
  const [on, off] = [await look('On'), await look('Off')]
  expect(on.knob).not.toBe(on.background)
  expect(off.knob).not.toBe(off.background)
  expect(on.background).not.toBe(off.background)

  await page.goto('/operations')
  const background = (name: RegExp) =>
    page.getByRole('button', { name }).evaluate((element) => getComputedStyle(element).backgroundColor)
  await page.getByRole('button', { pressed: true }).waitFor()
  expect(await background(/^24 h/)).not.toBe(await background(/^7 d/))
  const chart = page.locator('dg-course-chart').filter({ hasText: 'Tokens' }).first()
  // The window buttons appear before the report loads.
  await chart.waitFor()
  const markers = await chart
    .locator('.u-series .u-marker')
    .evaluateAll((found) => found.map((marker) => getComputedStyle(marker).borderTopColor))
  expect(new Set(markers.slice(-3)).size).toBe(3)
})
