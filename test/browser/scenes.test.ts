import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { speech } from '../phone/call/call-harness.ts'
import { NUMBER, OWNER } from '../phone/provider.ts'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { ANSWER, type House, QUESTION, startHouse } from './house.ts'
import { choose, desk, inFocus, phone, reply, say, settled, visit, watchTexts, words } from './page.ts'
import { picture } from './picture.ts'

const browser = useBrowser()

type Scene = { readonly name: string; readonly path: string; readonly open: (page: Page) => Promise<void> }

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
    name: 'palette',
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
    name: 'point-number',
    path: '/settings',
    async open(page) {
      await button(page, 'Point my number here').click()
      await page.getByRole('heading', { name: `Point ${NUMBER} here?` }).waitFor()
    },
  },
]

const looks = [
  { look: 'desk', context: { viewport: desk, colorScheme: 'light' } },
  { look: 'phone', context: { viewport: phone, colorScheme: 'dark', hasTouch: true, isMobile: true } },
] as const

async function check(page: Page, name: string, look: string, width: number) {
  expect([name, await findings(page)]).toEqual([name, []])
  await expect
    .poll(async () => [name, await page.evaluate(() => document.documentElement.scrollWidth)])
    .toEqual([name, width])
  await picture(page, name, look)
}

async function pointNumberElsewhere({ double }: House): Promise<void> {
  double.numbers.push({
    sid: 'PN1',
    phone_number: NUMBER,
    voice_url: 'https://old.example.com/voice',
    sms_url: '',
  })
}

for (const { look, context } of looks) {
  test(`every dialog, the note editor, a proposed text and a call in progress are accessible (${look})`, async () => {
    const house = await startHouse()
    await pointNumberElsewhere(house)
    const page = await visit(browser(), house.service, { context })
    for (const { name, path, open } of scenes) {
      await page.goto(path)
      await settled(page)
      await open(page)
      await check(page, name, look, context.viewport.width)
      await page.keyboard.press('Escape')
      await expect
        .poll(async () => [name, await page.getByRole('dialog').filter({ visible: true }).count()])
        .toEqual([name, 0])
    }

    await page.goto(`/notes/edit?id=${house.noteId}`)
    await page
      .getByRole('textbox', { name: /^Text|Content|Note/ })
      .first()
      .waitFor()
    await check(page, 'note-edit', look, context.viewport.width)

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
    await check(page, 'proposal', look, context.viewport.width)

    const { caller } = await house.dial('CA1', OWNER)
    const bar = page.getByRole('region', { name: 'Phone call' })
    await bar.filter({ hasText: 'You on the phone' }).waitFor()
    await words(page, 'Delegate', 'Your train leaves').waitFor()
    const callStates = await watchTexts(page, 'section[aria-label="Phone call"] .state')
    void caller.say(speech('caller-question'))
    await expect.poll(callStates).toContain('you are speaking')
    await picture(page, 'call', look)
    expect(await findings(page)).toEqual([])
    await bar.getByRole('button', { name: 'Hang up' }).click()
    await bar.waitFor({ state: 'detached' })
  }, 600_000)
}
