import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { composer, inFocus, visit, words } from './page.ts'

const browser = useBrowser()

test('shows times in the owner’s zone and 24-hour format, whatever the browser’s locale', async () => {
  const TIMEZONE = 'Asia/Tokyo'
  const service = await startWholeService({ environment: { TIMEZONE } })
  const { turnId } = (await service.client.post('/api/chat', { content: 'Hello there' })).json
  const { events } = (await service.client.get('/api/timeline')).json
  const said = events.find((event: Record<string, unknown>) => event.turnId === turnId)
  const clock = new Intl.DateTimeFormat('en-GB', {
    timeZone: TIMEZONE,
    hour: '2-digit',
    minute: '2-digit',
  })
  const page = await visit(browser(), service, {
    context: { locale: 'en-US', timezoneId: 'America/New_York' },
  })
  const time = words(page, 'You', 'Hello there').locator('time')
  await expect.poll(() => time.textContent()).toBe(clock.format(new Date(said.at)))
  await inFocus(composer(page)).waitFor()

  // A changed zone takes effect on the next page.
  await service.client.put('/api/config', { entries: { TIMEZONE: 'Pacific/Honolulu' } })
  const elsewhere = new Intl.DateTimeFormat('en-GB', { timeZone: 'Pacific/Honolulu', timeStyle: 'short' })
  await expect
    .poll(async () => {
      await page.getByRole('link', { name: 'Notes' }).click()
      await page.getByRole('link', { name: 'Timeline' }).click()
      return time.textContent()
    })
    .toBe(elsewhere.format(new Date(said.at)))
})
