import { expect, test } from 'vitest'
import { ofType } from '../phone/phone-harness.ts'
import { OWNER } from '../phone/provider.ts'
import { startWithTexts, text } from '../sms/sms-harness.ts'
import { PASSWORD } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { checkThemes } from './looks.ts'
import { phone as phoneSize, visit } from './page.ts'

const browser = useBrowser()
const NOTICE =
  /Halted since .* \((?:in the browser|by text)\)\. Delegate answers in chat but does nothing else\./

test('halts from every page, says so in all tabs, and is released with the password', async () => {
  const phone = await startWithTexts()
  await phone.service.client.post('/api/chat', { content: 'When does my train leave?' })
  const desk = await visit(browser(), phone.service, { path: '/notes', expected: /401/ })
  const small = await visit(browser(), phone.service, {
    context: { viewport: phoneSize },
    expected: /401/,
  })
  const tabs = [
    ['desk', desk],
    ['phone', small],
  ] as const

  for (const [size, tab] of tabs) {
    await tab.getByRole('button', { name: 'Halt', exact: true }).click()
    await tab.getByRole('dialog', { name: 'Halt Delegate?' }).waitFor()
    await checkThemes(tab, 'halt-ask', size)
    if (size === 'desk') await tab.getByRole('button', { name: 'Cancel' }).click()
  }
  expect((await phone.service.client.get('/api/halt')).json.halted).toBe(false)
  await small.locator('dg-confirm-dialog').getByRole('button', { name: 'Halt', exact: true }).click()
  for (const [size, tab] of tabs) {
    await tab.getByText(NOTICE).waitFor()
    await checkThemes(tab, 'halted', size)
  }
  await small.getByText('Delegate halted in the browser').waitFor()
  await desk.goto('/operations')
  await desk.getByText('Background work waits.').waitFor()

  for (const [size, tab] of tabs) {
    await tab.locator('dg-service-notices').getByRole('button', { name: 'Release…' }).click()
    await tab.getByRole('dialog', { name: 'Release Delegate?' }).waitFor()
    const dialog = tab.locator('dg-password-dialog')
    await dialog.getByRole('button', { name: 'Release', exact: true }).click()
    await dialog.getByText('Enter your password.').waitFor()
    await dialog.getByLabel('Your password').fill('not the password')
    await tab.keyboard.press('Enter')
    await dialog.getByText('That is not your password.').waitFor()
    await checkThemes(tab, 'halt-release', size)
  }
  await desk.getByLabel('Your password').fill(PASSWORD)
  await desk.keyboard.press('Enter')
  for (const [, tab] of tabs) await tab.getByText(NOTICE).waitFor({ state: 'detached' })
  await small.keyboard.press('Escape')
  await small.getByText('Delegate released').waitFor()

  // By text, it shows at once too.
  await text(phone, 'SM1', OWNER, 'HALT')
  await phone.eventsUntil('the halt', (all) => ofType(all, 'delegation.halted').length === 2)
  for (const [, tab] of tabs) await tab.getByText(NOTICE).waitFor()
  await small.getByText('Delegate halted by text').waitFor()
})
