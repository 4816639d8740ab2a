import { existsSync } from 'node:fs'
import { type CDPSession, chromium } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { newBrowser } from '../notifications/push-service.ts'
import { testDirectory } from '../support/directory.ts'
import { PASSWORD, startWholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { keepCopy, startProxy, visitApp } from './installed.ts'
import { checkLooks } from './looks.ts'
import { startWithModel } from './model.ts'
import { composer, reply, say, settled, visit, words } from './page.ts'

const browser = useBrowser()

test('meets the criteria of an app that can be installed', async () => {
  const service = await startWholeService()
  const page = await visitApp(browser(), service)
  const cdp: CDPSession = await page.context().newCDPSession(page)
  const { errors } = await cdp.send('Page.getAppManifest')
  expect(errors).toEqual([])
  const { installabilityErrors } = await cdp.send('Page.getInstallabilityErrors')
  // A context of its own counts as private browsing, where nothing is installed.
  expect(installabilityErrors.filter(({ errorId }) => errorId !== 'in-incognito')).toEqual([])
})

test('starts its worker only after the sign-in', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service, { path: '/health', signedIn: false, worker: true })
  await page.addInitScript(() => {
    const { serviceWorker } = navigator
    const register = serviceWorker.register.bind(serviceWorker)
    serviceWorker.register = (...given) => {
      Object.assign(window, { registeredAt: location.pathname })
      return register(...given)
    }
  })
  await page.goto('/login')
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await composer(page).waitFor()
  await page.evaluate(() => navigator.serviceWorker.ready)
  expect(await page.evaluate(() => Reflect.get(window, 'registeredAt'))).toBe('/')
})

test('opens offline: the page without a copy, and with one the timeline, notes and memories', async () => {
  const service = await startWholeService()
  await service.client.post('/api/notes', { title: 'Garden', content: 'Sow the beans in May.' })
  const page = await visitApp(browser(), service)
  await say(page, 'Remember that my sister is called Ada.')
  await reply(page, /Ada/).waitFor()
  const context = page.context()
  await context.setOffline(true)
  await page.reload()
  await page.getByRole('heading', { name: 'The service cannot be reached' }).waitFor()
  await checkLooks(page, 'offline')
  await say(page, 'What time is it?')
  await words(page, 'You', 'What time is it?').waitFor()
  await page.reload()
  await words(page, 'You', 'What time is it?').waitFor()
  await page.getByText('Offline', { exact: true }).waitFor()

  await context.setOffline(false)
  await keepCopy(page)
  await checkLooks(page, 'offline-copy-setting', page.getByRole('switch', { name: 'Offline copy' }))
  await context.setOffline(true)
  await page.goto('/')
  await words(page, 'You', 'Remember that my sister is called Ada.').waitFor()
  await checkLooks(page, 'offline-copy')
  await page.goto('/notes')
  await page.getByRole('link', { name: /Garden/ }).waitFor()
  await page.goto('/memories')
  await page.getByText('sister', { exact: false }).first().waitFor()
})

test('keeps what formulas and code need once they were shown, and fetches neither before', {
  tags: ['long'],
}, async () => {
  const { service, model } = await startWithModel()
  model.reply({ text: 'So $a^2$ is:\n\n```ts\nconst a = 2\n```' })
  const page = await visitApp(browser(), service)
  const kept = () =>
    page.evaluate(async () => {
      const all = await Promise.all(
        (await caches.keys()).map(async (name) => (await caches.open(name)).keys()),
      )
      return all.flat().map(({ url }) => new URL(url).pathname)
    })
  const rarelyUsed = /(?:render-formula|highlight|operations-page|welcome-page)-/
  expect((await kept()).some((path) => path.includes('timeline-page'))).toBe(true)
  expect((await kept()).filter((path) => rarelyUsed.test(path))).toEqual([])

  await keepCopy(page)
  await page.goto('/')
  await say(page, 'Show me')
  await reply(page, 'is:').locator('.math math').waitFor()
  await reply(page, 'is:').locator('.hljs-keyword').waitFor()
  await expect.poll(async () => (await kept()).filter((path) => rarelyUsed.test(path)).length).toBe(2)
  const renewed = page.waitForResponse('**/api/offline-copy')
  await page.goto('/')
  await (await renewed).finished()
  await reply(page, 'is:').waitFor()

  const context = page.context()
  const cdp: CDPSession = await context.newCDPSession(page)
  await cdp.send('Network.clearBrowserCache')
  await context.setOffline(true)
  await page.goto('/')
  await reply(page, 'is:').locator('.math math').waitFor()
  await reply(page, 'is:').locator('.hljs-keyword').waitFor()
})

test('keeps a message that was written offline when the app is closed, and sends it later, once', async () => {
  const service = await startWholeService()
  const page = await visitApp(browser(), service)
  await composer(page).waitFor()
  const context = page.context()
  await keepCopy(page)
  await context.setOffline(true)
  await page.goto('/')
  await say(page, 'What time is it?')
  await page.close()
  const again = await context.newPage()
  await again.goto('/')
  await again.getByText('What time is it?').waitFor()
  await context.setOffline(false)
  await reply(again, /It’s/).waitFor()
  const { events } = (await service.client.get('/api/timeline')).json
  const received = events.filter(({ type }: { type: string }) => type === 'chat.message.received')
  expect(received).toHaveLength(1)
})

test('removes the copy on signing out, and after an erasure what was erased', async () => {
  const service = await startWholeService()
  const { id } = (await service.client.post('/api/notes', { title: 'Secret', content: 'The safe.' })).json
  const page = await visitApp(browser(), service)
  await keepCopy(page)
  // A page renews the copy once it is connected. A renewal under way would ask for the erased note in vain.
  const renewed = page.waitForResponse('**/api/offline-copy')
  await page.goto('/')
  await renewed
  const copied = () =>
    page.evaluate(async () => {
      const found = await (await caches.open('delegate-copy')).match('/api/notes', { ignoreSearch: true })
      return (await found?.text()) ?? ''
    })
  expect(await copied()).toContain('Secret')
  const erasure = (await service.client.post('/api/erasures', { kind: 'note', id })).json
  await service.client.post(`/api/erasures/${erasure.id}/now`)
  await expect.poll(copied).not.toContain('Secret')
  await page.getByRole('button', { name: 'Sign out', exact: true }).first().click()
  await page.getByRole('heading', { name: /Sign in|Welcome back/ }).waitFor()
  await expect.poll(() => page.evaluate(() => caches.has('delegate-copy'))).toBe(false)
})

/** The headless shell from npm shows no notifications. */
const systemBrowser = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find((path) => existsSync(path))

test.skipIf(systemBrowser === undefined)(
  'shows what was pushed with its words, and acts on a click',
  { tags: ['long'] },
  async () => {
    const service = await startWholeService({ waits: { openPageMs: 60_000 } })
    // Private browsing shows none either.
    const context = await chromium.launchPersistentContext(testDirectory(), {
      executablePath: systemBrowser ?? '',
      args: ['--no-sandbox', '--disable-gpu'],
    })
    onTestFinished(() => context.close())
    const [name = '', value = ''] = (service.client.cookie() ?? '').split('=')
    const signIn = () =>
      context.addCookies([{ name, value, url: service.origin, httpOnly: true, sameSite: 'Lax' }])
    await signIn()
    await context.grantPermissions(['notifications'], { origin: service.origin })
    const page = await context.newPage()
    // A visible page shows a toast instead of a notification.
    await page.addInitScript(() =>
      Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' }),
    )
    await page.goto(`${service.origin}/notes`)
    await page.evaluate(() => navigator.serviceWorker.ready)
    await service.client.post('/api/timers', { title: 'Water the plants', at: new Date().toISOString() })
    const unseen = async () => (await service.client.get('/api/notifications')).json.notifications
    await expect.poll(async () => (await unseen()).length).toBe(1)
    const [{ seq }] = await unseen()
    const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'))
    // As texts: the types of workers and pages exclude each other.
    const words = (): Promise<unknown> =>
      worker.evaluate(
        `registration.getNotifications().then((all) => all.map(({ title, body, tag }) => ({ title, body, tag })))`,
      )
    // To ask for notifications while one is being shown makes Chromium lose it.
    await worker.evaluate(`
      const show = registration.showNotification.bind(registration)
      self.times = 0
      registration.showNotification = (...all) => show(...all).then(() => void times++)`)
    const untilShown = (count: number) => expect.poll(() => worker.evaluate('times')).toBe(count)
    const click = (action: string) =>
      worker.evaluate(
        `registration.getNotifications().then(([notification]) =>
        dispatchEvent(new NotificationEvent('notificationclick', { notification, action: '${action}' })))`,
      )
    const cdp = await context.newCDPSession(page)
    const registered = new Promise<string>((resolve) => {
      cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: [found] }) => {
        if (found) resolve(found.registrationId)
      })
    })
    await cdp.send('ServiceWorker.enable')
    const registrationId = await registered
    const push = (data: object) =>
      cdp.send('ServiceWorker.deliverPushMessage', {
        origin: service.origin,
        registrationId,
        data: JSON.stringify(data),
      })
    await push({ kind: 'reminder', seq })
    await untilShown(1)
    const reminder = { title: 'Reminder', body: 'Water the plants', tag: `notification-${seq}` }
    expect(await words()).toEqual([reminder])
    await push({ kind: 'reminder', seq })
    await untilShown(2)
    // The repetition has replaced it.
    expect(await words()).toEqual([reminder])
    // The worker learns of it a moment later.
    const reaches = () => worker.evaluate(`fetch('/health').then(() => true, () => false)`)
    await context.setOffline(true)
    await expect.poll(reaches).toBe(false)
    await click('done')
    await untilShown(3)
    expect(await words()).toMatchObject([{ body: 'Delegate cannot be reached. Try again later.' }])
    await context.setOffline(false)
    await expect.poll(reaches).toBe(true)
    await context.clearCookies()
    await click('done')
    await untilShown(4)
    expect(await words()).toMatchObject([{ body: 'Open Delegate to sign in.' }])
    await signIn()
    await click('')
    await expect.poll(unseen).toEqual([])
    await expect.poll(words).toEqual([])
    await page.waitForURL(`**/?seq=${seq}`)
    // What is not there any more, or not readable without a session, gets a general sentence.
    await push({ kind: 'task', seq: 999_999 })
    await untilShown(5)
    expect(await words()).toEqual([
      { title: 'A task has ended', body: 'Open Delegate to see more.', tag: 'notification-999999' },
    ])
    const { id } = (await service.client.post('/api/notes', { title: 'Garden', content: 'Roses' })).json
    // Only a real click may open a window.
    await worker.evaluate('clients.openWindow = async (path) => { self.opened.push(path) }')
    // What the service renders has no code that could navigate: the moment gets a window of its own.
    for (const path of [`/notes/${id}`, '/docs']) {
      await worker.evaluate('self.opened = []')
      await page.goto(service.origin + path)
      await click('')
      await expect.poll(() => worker.evaluate('self.opened')).toEqual(['/?seq=999999'])
      await push({ kind: 'task', seq: 999_999 })
      await untilShown(path === '/docs' ? 7 : 6)
    }
    // A reminder stays until it is closed.
    await push({ kind: 'reminder', seq })
    await untilShown(8)
    await page.goto(`${service.origin}/notes`)
    await page.getByRole('button', { name: 'Sign out', exact: true }).first().click()
    await expect.poll(words).toEqual([])
  },
)

test('offers the new version in every tab, and reloads each when asked', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const proxy = await startProxy(service)
  const page = await visitApp(browser(), { ...service, origin: proxy.origin }, { path: '/notes' })
  await page.reload()
  const other = await page.context().newPage()
  await other.goto('/notes')
  await settled(other)
  proxy.isNewBuild = true
  await page.evaluate(async () => (await navigator.serviceWorker.ready).update())
  await page.getByText('A new version of Delegate is ready.').waitFor()
  await checkLooks(page, 'new-version')
  for (const tab of [page, other]) {
    const reloaded = tab.waitForEvent('load')
    await tab.getByRole('button', { name: 'Reload' }).click()
    await reloaded
  }
})

test('turns notifications on for this browser, chooses their kinds, and turns them off', {
  tags: ['long'],
}, async () => {
  const service = await startWholeService()
  const page = await visitApp(browser(), service)
  // The push service of this browser cannot be reached.
  await page.context().addInitScript((keys) => {
    let permission = 'default'
    Object.defineProperty(Notification, 'permission', { get: () => permission })
    Object.assign(Notification, {
      requestPermission: async () => {
        permission = 'granted'
        return permission
      },
    })
    Object.assign(PushManager.prototype, {
      subscribe: async () => ({ toJSON: () => ({ endpoint: 'https://push.example/1', keys }) }),
    })
  }, newBrowser().keys)
  await page.goto('/settings#notifications')
  const card = page.locator('#notifications')
  await checkLooks(page, 'notifications-off', card)
  await card.getByRole('button', { name: 'Turn on' }).click()
  const tasks = card.getByRole('checkbox', { name: 'Finished tasks' })
  await tasks.uncheck()
  const kinds = async () => (await service.client.get('/api/push')).json.subscriptions[0]?.kinds
  await expect.poll(kinds).toEqual(['reminder', 'confirmation', 'call', 'budget'])
  await checkLooks(page, 'notifications', card.getByRole('group', { name: 'What about' }))
  await card.getByRole('button', { name: 'Turn off' }).click()
  await card.getByRole('button', { name: 'Turn on' }).waitFor()
  expect(await kinds()).toBeUndefined()
})
