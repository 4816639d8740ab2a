import { expect, test } from 'vitest'
import { NUMBER, PUBLIC_URL } from '../phone/provider.ts'
import { startWithTexts } from '../sms/sms-harness.ts'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { visit } from './page.ts'

const browser = useBrowser()

test('points the number here after confirmation, and explains when it cannot', async () => {
  const phone = await startWithTexts()
  const page = await visit(browser(), phone.service, { path: '/settings', expected: /status of (409|502)/ })
  const button = page.getByRole('button', { name: 'Point my number here' })
  const refused = page.getByRole('alert').filter({ hasText: 'is not a number of this account' })
  await button.click()
  await refused.waitFor()

  phone.double.numbers.push({
    sid: 'PN1',
    phone_number: NUMBER,
    voice_url: 'https://old.example.com/voice',
    sms_url: '',
  })
  await button.click()
  await refused.waitFor({ state: 'detached' })
  await page.getByRole('heading', { name: `Point ${NUMBER} here?` }).waitFor()
  // Slotted dialog content belongs to the element that opened the dialog.
  const dialog = page.locator('dg-point-number')
  await dialog.getByText('https://old.example.com/voice').waitFor()
  await dialog.getByText('points nowhere').first().waitFor()
  expect(await findings(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  expect(phone.double.requests.filter(({ method }) => method === 'POST')).toEqual([])

  await button.click()
  await dialog.getByRole('button', { name: 'Point it here' }).click()
  await page.getByText(`${NUMBER} now points here: 3 addresses changed.`).waitFor()
  expect(phone.double.numbers).toMatchObject([{ voice_url: `${PUBLIC_URL}/voice-markup` }])
  // The connection test reruns on its own.
  await page
    .getByRole('list', { name: /^Test / })
    .getByText('voice webhook')
    .waitFor()
  await button.click()
  await page.getByText(`${NUMBER} already points here.`).waitFor()
})
