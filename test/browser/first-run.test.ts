import type { Page, Request } from 'playwright-core'
import { expect, test } from 'vitest'
import { testDirectory } from '../support/directory.ts'
import { PASSWORD, startWholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { startWithModel } from './model.ts'
import { composer, reply, say, visit, words } from './page.ts'

const browser = useBrowser()

test('sets up, chats, shows the steps of a reply, and keeps everything after a restart', async () => {
  const directory = testDirectory()
  const service = await startWholeService({ directory, installed: false })
  const page = await visit(browser(), service, { signedIn: false })
  expect(new URL(page.url()).pathname).toBe('/install')

  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.getByText('Step 2 of 5').waitFor()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Without a service for now' }).click()
  await page.getByRole('button', { name: 'Not now' }).click()
  await page.getByRole('button', { name: 'Remember that I take my coffee black' }).click()
  const end = page.locator('.delegate.prose > :last-child')
  expect(await end.evaluate((block) => getComputedStyle(block).marginBottom)).toBe('0px')
  await page.getByRole('button', { name: 'Go to your timeline' }).click()
  await words(page, 'You', 'Remember that I take my coffee black').waitFor()
  await reply(page, /\w/).waitFor()

  const fold = page.getByRole('button', { expanded: false, name: /remember|recall|thought/i })
  await fold.first().click()
  await page.getByRole('button', { name: /^Finished/ }).click()
  await page.getByText('turn.completed').waitFor()

  await page.reload()
  await words(page, 'Delegate', /\w/).waitFor()
  await page.close()
  await service.stop()

  const again = await startWholeService({ directory })
  const later = await visit(browser(), again)
  await words(later, 'You', 'Remember that I take my coffee black').waitFor()
  await words(later, 'Delegate', /\w/).waitFor()
})

test('offers a German owner first messages that the model behind the page knows', {
  tags: ['long'],
}, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { context: { locale: 'de-DE' } })
  await page.getByText('Ohne Modelldienst kann Delegate nur Englisch.').waitFor()
  await page.getByRole('button', { name: 'Remember that I take my coffee black' }).click()
  await expect.poll(async () => (await service.client.get('/api/memories')).json.memories.length).toBe(1)

  const { service: withModel } = await startWithModel()
  const another = await visit(browser(), withModel, { context: { locale: 'de-DE' } })
  await another.getByRole('button', { name: 'Merk dir, dass ich meinen Kaffee schwarz trinke' }).waitFor()
})

test('asks for the set-up code without the printed link', { tags: ['long'] }, async () => {
  const service = await startWholeService({ installed: false })
  const page = await visit(browser(), service, { signedIn: false, path: '/', expected: /status of 403/ })
  const code = page.getByLabel('Set-up code')
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.getByText('Enter the set-up code. The service prints it when it starts.').waitFor()
  await code.fill('aaaa-bbbb-cccc-dddd')
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.getByText('Wrong code. Enter the latest one that the service printed.').waitFor()
  await code.fill(service.setupCode ?? '')
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.getByText('Step 2 of 5').waitFor()
})

test('accepts the printed link without asking for the code, and removes it from the address', {
  tags: ['long'],
}, async () => {
  const service = await startWholeService({ installed: false })
  const page = await visit(browser(), service, { signedIn: false })
  await page.getByLabel('Password', { exact: true }).waitFor()
  expect(page.url()).toBe(`${service.origin}/install`)
  expect(await page.getByLabel('Set-up code').count()).toBe(0)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.getByText('Step 2 of 5').waitFor()
})

test('says that a link from an earlier start has expired', { tags: ['long'] }, async () => {
  const service = await startWholeService({ installed: false })
  const path = '/install#aaaa-bbbb-cccc-dddd'
  const page = await visit(browser(), service, { signedIn: false, path, expected: /status of 403/ })
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.getByText('This link has expired.').waitFor()
})

test('rejects a short password at its field before sending it', { tags: ['long'] }, async () => {
  const service = await startWholeService({ installed: false })
  const page = await visit(browser(), service, { signedIn: false })
  await page.getByLabel('Password', { exact: true }).fill('short')
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.getByText('Add 7 more characters').waitFor()
  await page.getByLabel('Password', { exact: true }).and(page.locator('[aria-invalid=true]')).waitFor()
})

test('explains why the service rejects a password', async () => {
  const service = await startWholeService({ installed: false })
  const page = await visit(browser(), service, { signedIn: false, expected: /status of 400/ })
  await page.getByRole('button', { name: 'Set up' }).click()
  const empty = page.getByText('Choose a password.', { exact: true })
  await empty.waitFor()
  await page.getByLabel('Password', { exact: true }).fill('password1234')
  await empty.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.getByText('It is too common; choose another.', { exact: true }).waitFor()
})

test('does not go back to a finished set-up or sign-in', { tags: ['long'] }, async () => {
  const service = await startWholeService({ installed: false })
  const page = await visit(browser(), service, { signedIn: false })
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.getByText('Step 2 of 5').waitFor()
  await page.getByRole('button', { name: 'Finish later' }).click()
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  await page.goBack()
  await page.getByText(/^Step \d of 5$/).waitFor()
  await page.goBack()
  expect(page.url()).toBe('about:blank')
  // Waits for the requests made in idle time: they would be rejected after the sign-out.
  const answered = ['outbound', 'session/context', 'services', 'notifications'].map((name) =>
    page.waitForResponse(`**/api/${name}`),
  )
  await page.goto('/')
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  await Promise.all(answered)
  const answeredOnNotes = page.waitForResponse('**/api/outbound')
  await page.getByRole('link', { name: 'Notes' }).click()
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
  await answeredOnNotes
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Notes', level: 1 }).waitFor()
})

test('rejects a wrong password, signs in with the right one, and signs out', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { signedIn: false, expected: /status of 401/ })
  expect(new URL(page.url()).pathname).toBe('/login')
  await page.getByLabel('Password', { exact: true }).fill('not the password')
  await page.keyboard.press('Enter')
  await page.getByText('Wrong password. Try again.').waitFor()
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  await say(page, 'Hello')
  await words(page, 'Delegate', /\w/).waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Welcome back' }).waitFor()
  expect(await page.getByText('has run out').count()).toBe(0)
  await page.goto('/')
  expect(new URL(page.url()).pathname).toBe('/login')
})

test('does not report a lost session on sign-out, even if a request is rejected meanwhile', {
  tags: ['long'],
}, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/notes', expected: /status of 401|WebSocket/ })
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
  const answered = Promise.withResolvers<void>()
  await page.route('**/logout', async (route) => {
    const response = await route.fetch()
    const isRefused = async (request: Request) => (await request.response())?.status() === 401
    // Chromium may report a request as failed if the page reads its response before it ends.
    const refused = Promise.race([
      page.waitForEvent('requestfinished', isRefused),
      page.waitForEvent('requestfailed', isRefused),
    ])
    // Makes the page check the service.
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    await refused
    await route.fulfill({ response })
    answered.resolve()
  })
  await page.getByRole('button', { name: 'Sign out' }).click()
  await answered.promise
  await page.getByRole('heading', { name: 'Welcome back' }).waitFor()
  await expect.poll(() => page.evaluate(() => sessionStorage.length)).toBe(0)
  expect(await page.getByText('has run out').count()).toBe(0)
  // The next sign-in does not return to the page of the sign-out.
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
})

test('explains on the sign-in page that the session has expired or was ended elsewhere', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { expected: /status of 401|WebSocket/ })
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  await service.client.post('/logout')
  await page.getByText('Your session has expired or was ended elsewhere.').waitFor()
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
})

test('keeps drafts when the session is lost, and clears them in every tab on sign-out', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { expected: /status of 401|WebSocket/ })
  await composer(page).fill('Half of a sentence')
  const other = await page.context().newPage()
  await other.goto('/notes/edit')
  await other.getByRole('textbox', { name: 'Title' }).fill('Lisbon')
  await other.getByRole('textbox', { name: 'Text' }).fill('An hour of writing.')
  await service.client.post('/logout')
  await page.getByText('Your session has expired or was ended elsewhere.').waitFor()
  await other.getByText('Your session has expired or was ended elsewhere.').waitFor()

  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.keyboard.press('Enter')
  await expect.poll(() => composer(page).inputValue()).toBe('Half of a sentence')
  await other.goto('/notes/edit')
  await expect
    .poll(() => other.getByRole('textbox', { name: 'Text' }).inputValue())
    .toBe('An hour of writing.')

  await other.getByRole('button', { name: 'Sign out' }).click()
  await other.getByRole('heading', { name: 'Welcome back' }).waitFor()
  await page.getByRole('heading', { name: 'Welcome back' }).waitFor()
  for (const tab of [page, other]) {
    await expect.poll(() => tab.evaluate(() => sessionStorage.length)).toBe(0)
  }
})

test('reports a session lost on the log page and keeps drafts', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { expected: /status of 401|WebSocket/ })
  await composer(page).fill('Half of a sentence')
  const log = await page.context().newPage()
  await log.goto('/logs')
  await log.getByText('Live', { exact: true }).waitFor()
  await service.client.post('/logout')
  for (const tab of [log, page]) {
    await tab.getByText('Your session has expired or was ended elsewhere.').waitFor()
  }
  await signIn(log)
  await waitForHeading(log, 'Logs')
  await page.reload()
  await waitForHeading(page, 'Timeline')
  await expect.poll(() => composer(page).inputValue()).toBe('Half of a sentence')
})

const signIn = async (page: Page) => {
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.keyboard.press('Enter')
}
const waitForHeading = (page: Page, heading: string) =>
  page.getByRole('heading', { name: heading, level: 1, exact: true }).waitFor()

test('returns to the requested page after sign-in, and never to another site', async () => {
  const service = await startWholeService()
  const { json: note } = await service.client.post('/api/notes', { title: 'Lisbon', content: 'Rain.' })
  const page = await visit(browser(), service, {
    signedIn: false,
    path: '/settings#about',
    expected: /status of 401|WebSocket/,
  })
  await waitForHeading(page, 'Welcome back')
  await page.reload()
  await signIn(page)
  await waitForHeading(page, 'Settings')

  // A session lost on a page returns to that page, with one entry in the history.
  await page.getByRole('link', { name: 'Memories', exact: true }).click()
  await waitForHeading(page, 'Memories')
  await page.getByRole('link', { name: 'Tasks' }).click()
  await waitForHeading(page, 'Tasks')
  await page.context().clearCookies()
  await page.reload()
  await waitForHeading(page, 'Welcome back')
  await signIn(page)
  await waitForHeading(page, 'Tasks')
  // Loses the session exactly when Reminders loads, not during a request of Tasks.
  await page.route(
    /\/api\/timers\b/,
    async (route) => {
      await page.context().clearCookies()
      await route.fulfill({ response: await page.context().request.get('/api/timers') })
    },
    { times: 1 },
  )
  await page.getByRole('link', { name: 'Reminders' }).click()
  await page.getByText('has expired').waitFor()
  await signIn(page)
  await waitForHeading(page, 'Reminders')
  await page.goBack()
  await waitForHeading(page, 'Tasks')

  // A page that the service renders. Leaving first stops the requests of the open page.
  await page.goto('about:blank')
  await page.context().clearCookies()
  await page.goto(`/notes/${note.id}`)
  await signIn(page)
  await waitForHeading(page, 'Lisbon')

  const hostile = [
    '//evil.example/',
    'https://evil.example/',
    '/\\evil.example',
    'javascript:alert(1)',
    '/login',
  ]
  for (const value of [...hostile.map(encodeURIComponent), '%']) {
    await page.goto('about:blank')
    await page.context().clearCookies()
    await page.context().addCookies([{ name: 'delegate_wanted', value, domain: '127.0.0.1', path: '/login' }])
    await page.goto('/login')
    await signIn(page)
    await waitForHeading(page, 'Timeline')
    expect([value, new URL(page.url()).origin]).toEqual([value, service.origin])
  }
})

test('does not ask for the password when already signed in', { tags: ['long'] }, async () => {
  const service = await startWholeService({ installed: false })
  const page = await visit(browser(), service, { signedIn: false, expected: /status of 409/ })
  const other = await page.context().newPage()
  await other.goto(`/install#${service.setupCode}`)
  for (const tab of [page, other]) await tab.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.getByText('Step 2 of 5').waitFor()
  await page.getByRole('button', { name: 'Finish later' }).click()
  await other.getByRole('button', { name: 'Set up' }).click()
  await other.getByRole('heading', { name: 'Already set up' }).waitFor()
  await other.getByRole('link', { name: 'Sign in' }).click()
  await waitForHeading(other, 'Timeline')
  await other.goto('/login')
  await waitForHeading(other, 'Timeline')
})
