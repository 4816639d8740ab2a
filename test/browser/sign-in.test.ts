import { Secret, TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { PASSWORD, startWholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { checkThemes, looks, tagsOf } from './looks.ts'
import { inFocus, visit } from './page.ts'

const browser = useBrowser()

/** A service whose clock the test can move forward. */
async function startWithClock() {
  let aheadMs = 0
  const nowMs = () => Date.now() + aheadMs
  const service = await startWholeService({ nowMs })
  const pass = (ms: number) => {
    aheadMs += ms
  }
  return { service, pass, nowMs }
}

const shownSecret = async (page: Page) =>
  ((await page.locator('dg-totp-dialog code').textContent()) ?? '').replaceAll(' ', '')
const codeOf = (secret: string, timestamp: number) =>
  TOTP.generate({ secret: Secret.fromBase32(secret), timestamp })

for (const [look, context] of looks)
  test(`adds an authenticator app and signs in with a code and with a recovery code (${look})`, {
    tags: tagsOf(look),
  }, async () => {
    const { service, nowMs, pass } = await startWithClock()
    await service.client.post('/api/chat', { content: 'Hello.' })
    const page = await visit(browser(), service, {
      path: '/settings#sign-in',
      expected: /status of 40[13]/,
      context,
    })
    await page.getByRole('button', { name: 'Add an app' }).click()
    await page.getByRole('dialog', { name: 'Add an authenticator app' }).waitFor()
    await page.getByRole('img', { name: 'QR code' }).waitFor()
    const secret = await shownSecret(page)
    await page.getByLabel('Code that the app shows').fill('000000')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('Wrong code').waitFor()
    await page.getByLabel('Code that the app shows').fill(codeOf(secret, nowMs()))
    await page.keyboard.press('Enter')
    const codes = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem')
    await expect.poll(() => codes.count()).toBe(10)
    await inFocus(page.getByRole('button', { name: 'Copy', exact: true })).waitFor()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    await page.mouse.click(5, 5)
    await page.getByText('Press Escape again').waitFor()
    const recoveryCode = (await codes.first().textContent()) ?? ''
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download', exact: true }).click()
    expect((await download).suggestedFilename()).toBe('delegate-recovery-codes.txt')
    await page.getByRole('button', { name: 'I have kept them' }).click()
    await page.getByText('10 recovery codes left').waitFor()
    await checkThemes(page, 'factors', look)

    for (const code of [() => codeOf(secret, nowMs()), () => recoveryCode]) {
      pass(60_000)
      await page.context().clearCookies()
      await page.goto('/login')
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
      await page.getByRole('button', { name: 'Sign in' }).click()
      const field = page.getByLabel('Code', { exact: true })
      await field.and(page.locator(':focus')).waitFor()
      await checkThemes(page, 'sign-in-code', look)
      await field.fill('000000')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByText('Wrong code').waitFor()
      await field.fill(code())
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('textbox', { name: 'Message' }).waitFor()
    }
    await page.getByText('A recovery code was used; 9 left').waitFor()
    await page.getByText('Authenticator app added').waitFor()
    await page.getByRole('link', { name: 'Signed in on a new device' }).first().waitFor()
    await checkThemes(page, 'sign-in-notices', look)
  })

for (const [look, context] of looks)
  test(`asks who is there before a sensitive change, then makes it (${look})`, {
    tags: tagsOf(look),
  }, async () => {
    const { service, pass } = await startWithClock()
    const page = await visit(browser(), service, { path: '/settings', expected: /status of 403/, context })
    const change = async () => {
      await page.getByLabel('Your phone numbers').fill('+15005550001')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
    }
    await page.getByLabel('Your phone numbers').waitFor()
    pass(6 * 60_000)
    await change()
    await page.getByRole('dialog', { name: 'Confirm that it is you' }).waitFor()
    await page.getByLabel('Your password').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('Nothing was changed. Confirm that it is you').first().waitFor()

    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByLabel('Your password').fill('not the password at all')
    await page.keyboard.press('Enter')
    await page.getByText('That is not your password.').waitFor()
    await page.getByLabel('Your password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page
      .locator('.setting', { has: page.locator('#OWNER_PHONE_NUMBER') })
      .getByText('Set here')
      .waitFor()
    const { entries } = (await service.client.get('/api/config')).json
    expect(entries).toContainEqual(
      expect.objectContaining({ key: 'OWNER_PHONE_NUMBER', value: '+15005550001' }),
    )
  })

test('saves nothing if the owner cancels the proof that emptying a setting needs', async () => {
  const { service, pass } = await startWithClock()
  const stored = { PUBLIC_URL: 'https://delegate.example.com' }
  expect((await service.client.put('/api/config', { entries: stored })).status).toBe(200)
  const page = await visit(browser(), service, { path: '/settings', expected: /status of 403/ })
  await page.getByLabel('Concurrent tasks', { exact: true }).fill('5')
  await page.getByLabel('Public URL', { exact: true }).fill('')
  pass(6 * 60_000)
  const save = page.getByRole('button', { name: 'Save', exact: true })
  await save.click()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('Nothing was changed. Confirm that it is you').first().waitFor()
  const valueNow = async (key: string) =>
    (await service.client.get(`/api/config?key=${key}`)).json.entries[0].value
  expect(await valueNow('TASK_LIMIT')).toBe(2)

  await save.click()
  await page.getByLabel('Your password').fill(PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByText('not saved').waitFor({ state: 'detached' })
  expect([await valueNow('TASK_LIMIT'), await valueNow('PUBLIC_URL')]).toEqual([5, null])
})

/** An authenticator in the browser that answers at once, as if the owner touched it. */
async function addAuthenticator(page: Page) {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return {
    /** Whether the owner is recognised. */
    verify: (isUserVerified: boolean) =>
      devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
  }
}

for (const [look, context] of looks)
  test(`adds a passkey, signs in and confirms with it, and removes it (${look})`, {
    tags: tagsOf(look),
  }, async () => {
    const { service, pass } = await startWithClock()
    const local = { ...service, origin: `http://localhost:${service.port}` }
    const page = await visit(browser(), local, {
      path: '/settings#sign-in',
      expected: /status of 40[13]/,
      context,
    })
    const { verify } = await addAuthenticator(page)
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByLabel('Name', { exact: true }).fill('My laptop')
    await page.getByRole('button', { name: 'Continue' }).click()
    const ways = page.getByRole('list', { name: 'Ways to sign in' })
    await ways.getByText('My laptop').waitFor()
    await page.getByText('Passkey added').waitFor({ state: 'detached' })
    await ways.scrollIntoViewIfNeeded()
    await checkThemes(page, 'passkeys', look)

    await page.context().clearCookies()
    await page.goto('/login')
    const usePasskey = page.getByRole('button', { name: 'Use a passkey' })
    await usePasskey.waitFor()
    await checkThemes(page, 'sign-in', look)
    await verify(false)
    await usePasskey.click()
    await page.getByText('No passkey was used').waitFor()
    await verify(true)
    await usePasskey.click()
    await page.getByRole('textbox', { name: 'Message' }).waitFor()

    await page.goto('/settings#sign-in')
    await ways.getByText('used just now').waitFor()
    pass(6 * 60_000)
    await page.getByRole('button', { name: 'Remove the passkey My laptop' }).click()
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByText('Confirm that it is you').waitFor()
    await usePasskey.click()
    await page.getByText('Passkey removed').first().waitFor()
    await ways.getByText('None. A passkey').waitFor()
    expect((await service.client.get('/api/auth/factors')).json.passkeys).toEqual([])
  })

test('says why it offers no passkeys under an address, and what to do', { tags: ['long'] }, async () => {
  const { service } = await startWithClock()
  const page = await visit(browser(), service, { path: '/settings#sign-in' })
  await page.getByText('Passkeys need a name and https, or localhost.').waitFor()
  expect(await page.getByRole('button', { name: 'Add a passkey' }).count()).toBe(0)
})
