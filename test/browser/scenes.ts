import { Secret, TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import { NUMBER } from '../phone/provider.ts'
import { ANSWER, type House, QUESTION } from './house.ts'
import { choose, inFocus, openSearch, reply, say } from './page.ts'

export type Scene = {
  readonly name: string
  readonly path: string
  readonly open: (page: Page, house: House) => Promise<void>
}

export const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })

/** Dialogs and other views that open above a page. */
export const scenes: readonly Scene[] = [
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
      await page.locator('dg-context-meter dd').filter({ hasText: /\d/ }).first().waitFor()
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
      await page
        .getByRole('row', { name: /^Chat/ })
        .getByRole('button', { name: /^Change the model for / })
        .click()
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
      await page.route('**/api/auth/totp', (route) => route.fulfill({ status: 403, json }))
      await button(page, 'Add an app').click()
      await page.getByLabel('Your password').waitFor()
      await page.unroute('**/api/auth/totp')
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
    name: 'backup-passphrase',
    path: '/data',
    async open(page) {
      await button(page, 'Download a backup').click()
      await page.getByLabel('Passphrase', { exact: true }).fill('short')
      await button(page, 'Make the backup').click()
      await page.locator('[aria-invalid=true]').waitFor()
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

/** A number that the scenes can point to the service. */
export async function pointNumberElsewhere({ double }: House): Promise<void> {
  double.numbers.push({
    sid: 'PN1',
    phone_number: NUMBER,
    voice_url: 'https://old.example.com/voice',
    sms_url: '',
  })
}
