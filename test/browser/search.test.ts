import { expect, test } from 'vitest'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { startWithModel } from './model.ts'
import { phone, visit } from './page.ts'

const browser = useBrowser()

test('what is found carries the sign of what it is, and reads as words without marks', async () => {
  const { service, model } = await startWithModel()
  model.answerWith(() => ({ text: '**Lisbon** is 2 * 3 hours away.' }))
  await service.client.post('/api/chat', { content: 'How far is *lisbon*?' })
  await service.client.post('/api/notes', {
    title: 'Off to Lisbon',
    content: '# Off to Lisbon\n\n- [x] Passport\n- [ ] The *blue* jacket',
  })
  await service.client.post('/api/timers', { title: 'Check in for Lisbon', at: '2031-04-11T08:00' })
  const page = await visit(browser(), service, { context: { viewport: phone } })
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByRole('searchbox', { name: 'Search the timeline' }).fill('lisbon')
  const hits = page.locator('dg-search-dialog .hit')
  await expect.poll(() => hits.count()).toBe(4)
  const shown = await hits.evaluateAll((all) =>
    all.map((hit) => [
      hit.querySelector('dg-icon')?.getAttribute('name'),
      hit.querySelector('.about > span')?.textContent,
      hit.querySelector('.snippet')?.textContent,
    ]),
  )
  expect(shown).toEqual([
    ['timer', 'Timer', 'Check in for Lisbon'],
    ['note', 'Note', 'Off to Lisbon · ☑ Passport · ☐ The blue jacket'],
    ['chat', 'Delegate, in the chat', 'Lisbon is 2 * 3 hours away.'],
    ['chat', 'You, in the chat', 'How far is *lisbon*?'],
  ])
  expect(await findings(page)).toEqual([])
})
