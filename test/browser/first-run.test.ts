import type { Page, Request } from 'playwright-core'
import { expect, test } from 'vitest'
import { testDirectory } from '../support/directory.ts'
import { PASSWORD, startWholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { composer, reply, say, visit, words } from './page.ts'

const browser = useBrowser()

test('a newcomer sets up, talks, unfolds what lay behind a reply, and finds it all after a restart', async () => {
  const directory = testDirectory()
  const service = await startWholeService({ directory, installed: false })
  const page = await visit(browser(), service, { signedIn: false })
  expect(new URL(page.url()).pathname).toBe('/install')

  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.getByText('Step 2 of 5').waitFor()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Use the builtin model' }).click()
  await page.getByRole('button', { name: 'Not now' }).click()
  await page.getByRole('button', { name: 'Remember that I take my coffee black' }).click()
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

test('without the printed link the page asks for the set-up code', async () => {
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

test('the printed link needs no further step, and its code leaves the address bar', async () => {
  const service = await startWholeService({ installed: false })
  const page = await visit(browser(), service, { signedIn: false })
  await page.getByLabel('Password', { exact: true }).waitFor()
  expect(page.url()).toBe(`${service.origin}/install`)
  expect(await page.getByLabel('Set-up code').count()).toBe(0)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.getByText('Step 2 of 5').waitFor()
})

test('a link of an earlier start says so and asks for the code', async () => {
  const service = await startWholeService({ installed: false })
  const path = '/install#aaaa-bbbb-cccc-dddd'
  const page = await visit(browser(), service, { signedIn: false, path, expected: /status of 403/ })
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.getByText('This link has expired.').waitFor()
})

test('a password that is too short is refused at its field, before it is sent', async () => {
  const service = await startWholeService({ installed: false })
  const page = await visit(browser(), service, { signedIn: false })
  await page.getByLabel('Password', { exact: true }).fill('short')
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.getByText('Add 7 more characters').waitFor()
  await page.getByLabel('Password', { exact: true }).and(page.locator('[aria-invalid=true]')).waitFor()
})

test('a password that the service refuses is refused in a whole sentence', async () => {
  const service = await startWholeService({ installed: false })
  const page = await visit(browser(), service, { signedIn: false, expected: /status of 400/ })
  await page.getByLabel('Password', { exact: true }).fill('password1234')
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.getByText('It is too common; choose another.', { exact: true }).waitFor()
})

test('the way back leads neither to the set-up nor to the sign-in, once they are over', async () => {
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
  // What is asked for in idle time is answered before the sign-in ends: else it would be refused.
  const answered = ['**/api/outbound', '**/api/session/context'].map((url) => page.waitForResponse(url))
  await page.goto('/')
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  await Promise.all(answered)
  await page.getByRole('link', { name: 'Notes' }).click()
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Notes', level: 1 }).waitFor()
})

test('a wrong password is said to be wrong, the right one leads to the timeline, signing out leads back', async () => {
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

test('who signs out is not told that the sign-in was lost, whatever is refused before that is answered', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/notes', expected: /status of 401|WebSocket/ })
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
  const answered = Promise.withResolvers<void>()
  await page.route('**/logout', async (route) => {
    const response = await route.fetch()
    const isRefused = async (request: Request) => (await request.response())?.status() === 401
    // Chromium calls a request failed too whose answer the page has read before the end of it is told.
    const refused = Promise.race([
      page.waitForEvent('requestfinished', isRefused),
      page.waitForEvent('requestfailed', isRefused),
    ])
    // The page looks how the service is.
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
  // Nor does the next sign-in lead back to where this one ended.
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
})

test('what was put off until the page has nothing to do is not asked for by who has signed out meanwhile', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/notes' })
  await page.addInitScript(() => {
    const later: IdleRequestCallback[] = []
    const beIdle = () => {
      for (const run of later.splice(0)) run({ didTimeout: false, timeRemaining: () => 50 })
    }
    Object.assign(window, { beIdle, requestIdleCallback: (run: IdleRequestCallback) => later.push(run) })
  })
  await page.goto('/')
  await composer(page).waitFor()
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Welcome back' }).waitFor()
  await page.evaluate(() => Reflect.get(window, 'beIdle')())
  await page.evaluate(() => fetch('/health'))
  expect(asked).toContain('/logout')
  expect(asked).toContain('/health')
  expect(asked.filter((path) => path.startsWith('/api/'))).toEqual([])
})

test('who is signed out without asking for it is told why the sign-in page is there', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { expected: /status of 401|WebSocket/ })
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  await service.client.post('/logout')
  await page.getByText('Your session has expired or was ended elsewhere.').waitFor()
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
})

test('what was typed outlives a sign-in that is lost, and is forgotten by every tab once one signs out', async () => {
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
  await composer(page).waitFor()
  expect(await composer(page).inputValue()).toBe('Half of a sentence')
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

test('a sign-in that is lost while the log is watched is told as that, and takes nothing that was typed', async () => {
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
  await isAt(log, 'Logs')
  await page.reload()
  await isAt(page, 'Timeline')
  await expect.poll(() => composer(page).inputValue()).toBe('Half of a sentence')
})

const signIn = async (page: Page) => {
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.keyboard.press('Enter')
}
const isAt = (page: Page, heading: string) =>
  page.getByRole('heading', { name: heading, level: 1, exact: true }).waitFor()

test('a sign-in leads to the page that was asked for, and never away from the service', async () => {
  const service = await startWholeService()
  const { json: note } = await service.client.post('/api/notes', { title: 'Lisbon', content: 'Rain.' })
  const page = await visit(browser(), service, {
    signedIn: false,
    path: '/settings#about',
    expected: /status of 401|WebSocket/,
  })
  await isAt(page, 'Welcome back')
  await page.reload()
  await signIn(page)
  await isAt(page, 'Settings')

  // Lost on a page: that page again, and once only on the way back.
  await page.getByRole('link', { name: 'Memories', exact: true }).click()
  await isAt(page, 'Memories')
  await page.getByRole('link', { name: 'Tasks' }).click()
  await isAt(page, 'Tasks')
  await page.context().clearCookies()
  await page.reload()
  await isAt(page, 'Welcome back')
  await signIn(page)
  await isAt(page, 'Tasks')
  // Lost when Timers asks, not while what Tasks has asked is still on its way.
  await page.route(
    /\/api\/timers\b/,
    async (route) => {
      await page.context().clearCookies()
      await route.fulfill({ response: await page.context().request.get('/api/timers') })
    },
    { times: 1 },
  )
  await page.getByRole('link', { name: 'Timers' }).click()
  await page.getByText('has expired').waitFor()
  await signIn(page)
  await isAt(page, 'Timers')
  await page.goBack()
  await isAt(page, 'Tasks')

  // A page that the service itself makes. What is open asks for nothing more.
  await page.goto('about:blank')
  await page.context().clearCookies()
  await page.goto(`/notes/${note.id}`)
  await signIn(page)
  await isAt(page, 'Lisbon')

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
    await isAt(page, 'Timeline')
    expect([value, new URL(page.url()).origin]).toEqual([value, service.origin])
  }
})

test('who is signed in already is not asked for the password', async () => {
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
  await isAt(other, 'Timeline')
  await other.goto('/login')
  await isAt(other, 'Timeline')
})
