import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { checkLooks, checkThemes, looks, tagsOf } from './looks.ts'
import { reply, say, visit, words } from './page.ts'

const browser = useBrowser()

for (const [look, context] of looks)
  test(`shows the erasure plan of a forget in the chat and undoes it there (${look})`, {
    tags: tagsOf(look),
  }, async () => {
    const service = await startWholeService()
    const page = await visit(browser(), service, { context })
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
    await expect.poll(() => firstReply.innerText()).not.toMatch(/peanuts/)
    expect(await page.locator('article.delegate').nth(1).innerText()).toMatch(/oven/i)
    await card
      .getByText(/allergic/)
      .first()
      .waitFor()
    await checkThemes(page, 'forget-plan', look)

    await card.getByRole('button', { name: 'Undo' }).click()
    // Not an exact match: the reply may now also show its time.
    await expect.poll(() => firstReply.innerText()).toContain(words)
    await expect.poll(() => card.count()).toBe(0)
    expect((await service.client.get('/api/memories')).json.count).toBe(1)
  })

for (const [look, context] of looks)
  test(`lets the owner choose what to forget, and erase its messages too (${look})`, {
    tags: tagsOf(look),
  }, async () => {
    const service = await startWholeService()
    const page = await visit(browser(), service, { context })
    const told = ['Remember that I work in Cardiff', 'Remember my sister Anna lives in Cardiff']
    for (const content of [...told, 'I had an interview for the Cardiff job'])
      await service.client.post('/api/chat', { content })
    await say(page, 'Forget my Cardiff job')

    const card = page.getByRole('region', { name: 'Which of these should be forgotten' })
    const box = (name: string | RegExp) => card.getByRole('checkbox', { name })
    await box(/^I work in Cardiff/).waitFor()
    await box(/^I had an interview for the Cardiff job/).waitFor()
    await reply(page, 'Nothing is forgotten yet').waitFor()
    expect(await card.getByRole('checkbox', { checked: true }).count()).toBe(0)
    const forget = card.getByRole('button', { name: 'Forget' })
    expect(await forget.isDisabled()).toBe(true)
    expect(await findings(page)).toEqual([])

    await box(/^I had an interview/).focus()
    await page.keyboard.press('Space')
    await box(/^I work in Cardiff/).check()
    await card.getByText('Erased: 1 memory').waitFor()
    await card.getByText('2 messages (no longer used)').click()
    await card.getByText('Will be kept').waitFor()
    expect(await findings(page)).toEqual([])
    await card.getByText('2 messages (no longer used)').click()
    await checkThemes(page, 'forget-choice', look)
    expect((await service.client.get('/api/memories')).json.count).toBe(2)
    await forget.click()

    await page.getByRole('region', { name: 'Done: Forget what you choose' }).waitFor()
    const plan = page.locator('dg-erasure-card')
    await plan.getByText('Will be kept').waitFor()
    const { memories } = (await service.client.get('/api/memories')).json
    expect(memories.map(({ text }: { text: string }) => text)).toEqual(['my sister Anna lives in Cardiff'])
    await checkThemes(page, 'forget-chosen', look)

    const interview = words(page, 'You', 'interview for the Cardiff job')
    expect(await interview.count()).toBe(1)
    await plan.getByRole('button', { name: 'Erase the messages too' }).click()
    await expect.poll(() => interview.count()).toBe(0)
    await expect.poll(() => plan.getByRole('button', { name: 'Erase the messages too' }).count()).toBe(0)
  })

test('marks a message that is not to be kept, and erases it from the mark', { tags: ['long'] }, async () => {
  const service = await startWholeService()
  const page = await visit(browser(), service)
  await page.getByRole('textbox', { name: 'Message' }).fill('I won 900 at the races, off the record')
  await page.keyboard.press('Enter')
  const message = page.locator('article.owner')
  await message.getByText('not kept in memory').waitFor()
  await page.locator('article.delegate').getByText('I won’t keep that.').waitFor()
  await page.reload()
  await message.getByText('not kept in memory').waitFor()
  await checkLooks(page, 'not-kept')
  await message.getByRole('button', { name: 'Erase' }).click()
  await page.locator('dg-erase-dialog').getByRole('button', { name: 'Erase', exact: true }).click()
  await message.getByText('Erased').waitFor()
  await message.getByText('not kept in memory').waitFor({ state: 'detached' })
})

test('keeps a message in memory after all', { tags: ['long'] }, async () => {
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
