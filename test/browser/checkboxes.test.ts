import { expect, onTestFinished, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { inFocus, visit } from './page.ts'

const browser = useBrowser()

test('opens a note with boxes in its preview, ticks them, and saves each tick', async () => {
  const service = await startWholeService()
  const before = '- [x] passport\n  - [ ] visa\n\n```\n- [ ] code\n```\n\n1. [ ] tent [x]\n\n   in red'
  const { id } = (await service.client.post('/api/notes', { title: 'Pack', content: before })).json
  const content = async () => (await service.client.get(`/api/notes/${id}`)).json.content
  const page = await visit(browser(), service, { path: `/notes/edit?id=${id}` })
  const box = (name: string) => page.getByRole('checkbox', { name, exact: true })
  await box('tent [x]').focus()
  expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(1)
  expect(await findings(page)).toEqual([])
  const held = Promise.withResolvers<void>()
  onTestFinished(() => held.resolve())
  await page.route(`**/api/notes/${id}`, async (route) => {
    await held.promise
    await route.continue()
  })
  await page.keyboard.press('Space')
  await inFocus(box('tent [x]')).waitFor()
  // While the first is being saved.
  await box('visa').check()
  await box('passport').uncheck()
  held.resolve()
  const after = '- [ ] passport\n  - [x] visa\n\n```\n- [ ] code\n```\n\n1. [x] tent [x]\n\n   in red'
  await expect.poll(content).toBe(after)
  await page.getByRole('button', { name: 'Write' }).click()
  await page.getByRole('textbox', { name: 'Text, in markdown' }).fill(`${after}\n\nUnsaved`)
  await page.getByRole('button', { name: 'Preview' }).click()
  await box('passport').check()
  await page.getByText('Not saved yet').waitFor()
  expect(await content()).toBe(after)
  await page.getByRole('button', { name: 'Save' }).click()
  await expect.poll(content).toBe(`${after.replace('[ ]', '[x]')}\n\nUnsaved`)
})
