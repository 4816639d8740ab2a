import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { desk, phone, visit } from './page.ts'
import { picture } from './picture.ts'

const browser = useBrowser()

test.each([
  ['desk', desk, 'light'],
  ['phone', phone, 'dark'],
] as const)(
  'shows the erasure plan of a forget in the chat and undoes it there (%s)',
  async (look, viewport, scheme) => {
    const service = await startWholeService()
    const page = await visit(browser(), service, { context: { viewport, colorScheme: scheme } })
    const say = async (text: string): Promise<void> => {
      const replies = page.locator('article.delegate')
      const before = await replies.count()
      await page.getByRole('textbox', { name: 'Message' }).fill(text)
      await page.keyboard.press('Enter')
      await expect.poll(() => replies.count()).toBeGreaterThan(before)
    }
    await say("Remember I'm allergic to peanuts")
    await say('Remind me in 2 hours to check the oven')
    const firstReply = page.locator('article.delegate').first()
    const words = await firstReply.innerText()
    expect(words).toMatch(/peanuts/)
    await say("Forget that I'm allergic to peanuts")

    const card = page.locator('dg-erasure-card')
    await card.getByText('Will be erased').waitFor()
    expect(await card.locator('section').innerText()).toMatch(
      /1 memory[\s\S]*1 reply[\s\S]*Will be kept[\s\S]*messages/,
    )
    expect(await firstReply.innerText()).not.toMatch(/peanuts/)
    expect(await page.locator('article.delegate').nth(1).innerText()).toMatch(/oven/i)
    expect(await findings(page)).toEqual([])
    await card
      .getByText(/allergic/)
      .first()
      .waitFor()
    await picture(page, 'forget-plan', look)

    await card.getByRole('button', { name: 'Undo' }).click()
    // Not an exact match: the reply may now also show its time.
    await expect.poll(() => firstReply.innerText()).toContain(words)
    await expect.poll(() => card.count()).toBe(0)
    expect((await service.client.get('/api/memories')).json.count).toBe(1)
  },
)

test('marks a message that is not to be kept, and erases it from the mark', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service)
  await page.getByRole('textbox', { name: 'Message' }).fill('I won 900 at the races, off the record')
  await page.keyboard.press('Enter')
  const message = page.locator('article.owner')
  await message.getByText('not kept in memory').waitFor()
  await page.locator('article.delegate').getByText('I won’t keep that.').waitFor()
  await page.reload()
  await message.getByText('not kept in memory').waitFor()
  expect(await findings(page)).toEqual([])
  await picture(page, 'not-kept', 'desk')
  await page.setViewportSize(phone)
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await findings(page)).toEqual([])
  await picture(page, 'not-kept', 'phone')
  await message.getByRole('button', { name: 'Erase' }).click()
  await page.locator('dg-erase-dialog').getByRole('button', { name: 'Erase', exact: true }).click()
  await message.getByText('Erased').waitFor()
  expect(await message.getByText('not kept in memory').count()).toBe(0)
})

test('keeps a message in memory after all', async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service)
  await page.getByRole('textbox', { name: 'Message' }).fill('I live in Bergen, off the record')
  await page.keyboard.press('Enter')
  const message = page.locator('article.owner')
  await message.getByRole('button', { name: 'Keep', exact: true }).click()
  await expect.poll(() => message.getByText('not kept in memory').count()).toBe(0)
  await page.reload()
  await message.getByText('I live in Bergen').waitFor()
  expect(await message.getByText('not kept in memory').count()).toBe(0)
  await expect.poll(async () => (await service.client.get('/api/memories')).json.count).toBe(1)
})
