// @module-tag long

import { expect, test } from 'vitest'
import { speech } from '../phone/call/call-harness.ts'
import { OWNER } from '../phone/provider.ts'
import { PASSWORD } from '../support/service.ts'
import { dialogElements } from './app-source.ts'
import { useBrowser } from './browser.ts'
import { startHouse } from './house.ts'
import { checkThemes, looks } from './looks.ts'
import { inFocus, reply, say, settled, visit, watchTexts, words } from './page.ts'
import { button, pointNumberElsewhere, scenes } from './scenes.ts'

const browser = useBrowser()

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
      // Some scenes need a proof of who is there that is less than five minutes old.
      const proven = await house.service.client.post('/api/auth/step-up', { password: PASSWORD })
      expect(proven.status).toBe(200)
      await page.goto(path)
      await settled(page)
      await open(page, house)
      // Letters go into a field, and a space presses nothing.
      const fields = page.locator('dg-dialog').locator('input, textarea, select')
      if ((await fields.count()) > 0)
        expect([name, await inFocus(button(page, 'Close')).count()]).toEqual([name, 0])
      const shown = page.locator(dialogs.join())
      for (const dialog of await shown.evaluateAll((all) => all.map(({ localName }) => localName)))
        opened.add(dialog)
      await checkThemes(page, name, look)
      // A dialog that is filled in asks for a second one.
      await page.keyboard.press('Escape')
      await page.keyboard.press('Escape')
      await expect
        .poll(async () => [name, await page.getByRole('dialog').filter({ visible: true }).count()])
        .toEqual([name, 0])
    }
    expect([...opened].sort()).toEqual(dialogs.toSorted())

    await page.goto(`/notes/edit?id=${house.noteId}`)
    // A note with checkboxes opens in the preview.
    const write = button(page, 'Write')
    await write.waitFor()
    await checkThemes(page, 'note-preview', look)
    await write.click()
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
  })
}
