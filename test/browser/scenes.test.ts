import { Secret, TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { speech } from '../phone/call/call-harness.ts'
import { NUMBER, OWNER } from '../phone/provider.ts'
import { dialogElements } from './app-source.ts'
import { useBrowser } from './browser.ts'
import { ANSWER, type House, QUESTION, startHouse } from './house.ts'
import { checkThemes, looks } from './looks.ts'
import { choose, inFocus, openSearch, reply, say, settled, visit, watchTexts, words } from './page.ts'

const browser = useBrowser()

type Scene = {
  readonly name: string
  readonly path: string
  readonly open: (page: Page, house: House) => Promise<void>
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })

/** Dialogs and other views that open above a page. */
const scenes: readonly Scene[] = [
  {
    name: 'note-history',
    path: '/notes',
    async open(page) {
      await button(page, 'More for Packing for Lisbon').click()
      await page.getByRole('menuitem', { name: 'History' }).click()
      await page.getByRole('dialog').waitFor()
    },
  },
  {
    name: 'erase',
    path: '/notes',
    async open(page) {
      await button(page, 'More for Garden').click()
      await page.getByRole('menuitem', { name: 'Erase for good…' }).click()
      await page.getByText('Will be erased').waitFor()
    },
  },
  {
    name: 'adaptation-edit',
    path: '/adaptations',
    async open(page) {
      await button(page, 'Be brief').first().click()
      await page.getByRole('dialog').waitFor()
    },
  },
  {
    name: 'adaptations-preview',
    path: '/adaptations',
    async open(page) {
      await button(page, 'Preview').click()
      await page.getByText('Answer in at most three sentences').last().waitFor()
    },
  },
  {
    name: 'timer-new',
    path: '/timers',
    async open(page) {
      await button(page, 'Set a reminder').first().click()
      await button(page, 'Set reminder').click()
      await page.getByText('Choose a date and time.').waitFor()
    },
  },
  {
    name: 'timer-cancel',
    path: '/timers',
    async open(page) {
      await button(page, 'Cancel Check in for Lisbon').click()
      await button(page, 'Cancel reminder').waitFor()
    },
  },
  {
    name: 'task-new',
    path: '/tasks',
    async open(page) {
      await button(page, 'Hand over a task').first().click()
      await page.getByLabel('Name').waitFor()
    },
  },
  {
    name: 'memory-forget',
    path: '/memories',
    async open(page) {
      await button(page, /^Forget: /)
        .first()
        .click()
      await page.getByRole('dialog', { name: 'Forget this for good?' }).waitFor()
    },
  },
  {
    name: 'memory-edit',
    path: '/memories',
    async open(page) {
      await button(page, /^Edit: /)
        .first()
        .click()
      await button(page, 'Save').waitFor()
    },
  },
  {
    name: 'search',
    path: '/',
    async open(page) {
      await page.keyboard.press('Control+Shift+F')
      await inFocus(page.getByRole('searchbox', { name: 'Search the timeline' })).waitFor()
      await page.keyboard.type('lisbon')
      await page
        .getByRole('button', { name: /Lisbon/ })
        .first()
        .waitFor()
    },
  },
  {
    name: 'palette-search',
    path: '/notes',
    async open(page) {
      await page.keyboard.press('Control+k')
      await inFocus(page.getByRole('combobox', { name: 'Find a command' })).waitFor()
      await page.keyboard.type('lis')
      await page.getByRole('option', { name: 'Packing for Lisbon' }).waitFor()
    },
  },
  {
    name: 'shortcuts',
    path: '/',
    async open(page) {
      await page.keyboard.press('Control+/')
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    },
  },
  {
    name: 'why',
    path: '/',
    async open(page) {
      await say(page, QUESTION)
      const answer = reply(page, ANSWER)
      await answer.waitFor()
      await choose(answer, 'Why this reply')
      await page.getByText('Answered by test-model').waitFor()
    },
  },
  {
    name: 'context',
    path: '/',
    async open(page) {
      await button(page, /^Context: /).click()
      await page
        .getByText(/turns?: /)
        .first()
        .waitFor()
    },
  },
  {
    name: 'erase-stretch',
    path: '/',
    async open(page) {
      await button(page, 'More').first().click()
      await page.getByRole('menuitem', { name: 'Erase a period…' }).click()
      await page.getByRole('dialog').waitFor()
    },
  },
  {
    name: 'moment',
    path: '/',
    async open(page) {
      // As if the entry were too far back to scroll to.
      await page
        .locator('dg-timeline-page')
        .evaluate((timelinePage) => Object.assign(timelinePage, { timeline: () => undefined }))
      await openSearch(page)
      await page.keyboard.type('papaya')
      await button(page, /No papaya/).click()
      await page.locator('dg-moment-dialog').getByText('No papaya, then.').waitFor()
    },
  },
  {
    name: 'point-number',
    path: '/settings',
    async open(page) {
      await button(page, 'Point my number here').click()
      await page.getByRole('heading', { name: `Point ${NUMBER} here?` }).waitFor()
    },
  },
  {
    name: 'service-change',
    path: '/settings',
    async open(page) {
      await page
        .getByRole('list', { name: 'Services' })
        .getByRole('button', { name: /^Change / })
        .click()
      await page.locator('dg-service-dialog').getByRole('button', { name: 'Save' }).waitFor()
    },
  },
  {
    name: 'use-choice',
    path: '/settings',
    async open(page) {
      await page.getByRole('row', { name: /^Chat/ }).getByRole('button', { name: 'Change' }).click()
      await page.locator('dg-choose-model-dialog').getByLabel('Service', { exact: true }).waitFor()
    },
  },
  {
    name: 'password-asked',
    path: '/settings',
    async open(page) {
      await page.getByLabel('API address', { exact: true }).fill('https://voice.example.com')
      await page.getByLabel('Auth token', { exact: true }).fill('token-of-the-other')
      await button(page, 'Save').click()
      await page.locator('dg-password-dialog').getByRole('textbox').waitFor()
    },
  },
  {
    name: 'step-up',
    path: '/settings',
    async open(page) {
      const json = { status: 403, code: 'step_up_required', title: 'Forbidden', detail: 'Not now.' }
      await page.route('**/api/auth/totp', (route) => route.fulfill({ status: 403, json }), { times: 1 })
      await button(page, 'Add an app').click()
      await page.getByLabel('Your password').waitFor()
    },
  },
  {
    name: 'authenticator',
    path: '/settings',
    async open(page) {
      await button(page, 'Add an app').click()
      await page.getByRole('img', { name: 'QR code' }).waitFor()
    },
  },
  {
    name: 'recovery-codes',
    path: '/settings',
    async open(page) {
      await button(page, 'Add an app').click()
      const secret = (await page.locator('dg-totp-dialog code').innerText()).replaceAll(' ', '')
      await page
        .getByLabel('Code that the app shows')
        .fill(TOTP.generate({ secret: Secret.fromBase32(secret) }))
      await page.locator('dg-totp-dialog').getByRole('button', { name: 'Add' }).click()
      await page.getByRole('list', { name: 'Recovery codes' }).waitFor()
    },
  },
  {
    name: 'add-passkey',
    path: '/settings',
    async open(page) {
      await button(page, 'Add a passkey').click()
      await page.getByLabel('Name', { exact: true }).waitFor()
    },
  },
  {
    name: 'reminder-snooze-until',
    path: '/timers',
    async open(page, { service }) {
      await service.client.post('/api/timers', { title: 'Stretch', at: new Date().toISOString() })
      await button(page, 'Dismiss').click()
      await button(page, 'Snooze: Stretch').click()
      await page.getByRole('menuitem', { name: 'Another time…' }).click()
      await page.locator('dg-snooze-dialog').getByRole('button', { name: 'Snooze' }).click()
      await page.getByText('Choose a date and time.').waitFor()
    },
  },
]

async function pointNumberElsewhere({ double }: House): Promise<void> {
  double.numbers.push({
    sid: 'PN1',
    phone_number: NUMBER,
    voice_url: 'https://old.example.com/voice',
    sms_url: '',
  })
}

for (const [look, context] of looks) {
  test(`every dialog, the note editor, a proposed text and a call in progress are accessible (${look})`, async () => {
    const house = await startHouse()
    await pointNumberElsewhere(house)
    // Passkeys need a name.
    const place = { ...house.service, origin: `http://localhost:${house.service.port}` }
    const page = await visit(browser(), place, { context, expected: /status of 403/ })
    const dialogs = dialogElements()
    const opened = new Set<string>()
    for (const { name, path, open } of scenes) {
      await page.goto(path)
      await settled(page)
      await open(page, house)
      const shown = page.locator(dialogs.join())
      for (const dialog of await shown.evaluateAll((all) => all.map(({ localName }) => localName)))
        opened.add(dialog)
      await checkThemes(page, name, look)
      await page.keyboard.press('Escape')
      await expect
        .poll(async () => [name, await page.getByRole('dialog').filter({ visible: true }).count()])
        .toEqual([name, 0])
    }
    expect([...opened].sort()).toEqual(dialogs.toSorted())

    await page.goto(`/notes/edit?id=${house.noteId}`)
    await page
      .getByRole('textbox', { name: /^Text|Content|Note/ })
      .first()
      .waitFor()
    await checkThemes(page, 'note-edit', look)

    await page.goto('/')
    house.model.reply(
      {
        toolCalls: [
          {
            name: 'send_sms',
            arguments: { to: '+14155550177', text: 'I am ten minutes late, please order for me.' },
          },
        ],
      },
      { text: 'It waits for your word.' },
    )
    await say(page, 'Tell Mira that I am ten minutes late: +14155550177')
    await button(page, 'Send text').waitFor()
    await reply(page, 'It waits').waitFor()
    await checkThemes(page, 'proposal', look)

    const { caller } = await house.dial('CA1', OWNER)
    const bar = page.getByRole('region', { name: 'Phone call' })
    await bar.filter({ hasText: 'You on the phone' }).waitFor()
    await words(page, 'Delegate', 'Your train leaves').waitFor()
    const callStates = await watchTexts(page, 'section[aria-label="Phone call"] .state')
    void caller.say(speech('caller-question'))
    await expect.poll(callStates).toContain('you are speaking')
    await checkThemes(page, 'call', look)
    await bar.getByRole('button', { name: 'Hang up' }).click()
    await bar.waitFor({ state: 'detached' })
  }, 600_000)
}
