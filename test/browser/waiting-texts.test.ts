import { expect, test } from 'vitest'
import { ofType } from '../phone/phone-harness.ts'
import { OWNER } from '../phone/provider.ts'
import { text as receive, startWithTexts } from '../sms/sms-harness.ts'
import { SHORT_PAUSES } from '../support/service.ts'
import { useBrowser } from './browser.ts'
import { checkThemes } from './looks.ts'
import { phone as phoneSize, visit, words } from './page.ts'

const browser = useBrowser()

test('announces delayed texts on every page, sends them later, and resends a failed one', {
  tags: ['long'],
}, async () => {
  const phone = await startWithTexts({ outboundPauses: SHORT_PAUSES })
  phone.text.answerWith(() => ({ text: 'At nine fifteen, platform four.' }))
  phone.double.setOutage({ type: 'refuse', status: 503, code: 20503 })
  await receive(phone, 'SM1', OWNER, 'When does my train leave?')
  await phone.eventsUntil('the notice', (all) => ofType(all, 'sms.delayed').length === 1)
  const page = await visit(browser(), phone.service)
  const small = await visit(browser(), phone.service, { context: { viewport: phoneSize } })
  for (const [tab, size] of [[page, 'desk'] as const, [small, 'phone'] as const]) {
    await tab.getByText(/1 text has been waiting since .*: the provider does not answer/).waitFor()
    await tab.getByText('Texts delayed: the provider does not answer').waitFor()
    await checkThemes(tab, 'text-waiting', size)
  }
  phone.double.setOutage(null)
  for (const [tab, size] of [[page, 'desk'] as const, [small, 'phone'] as const]) {
    await words(tab, 'Delegate', 'At nine fifteen').waitFor()
    await tab.reload()
    await words(tab, 'Delegate', 'At nine fifteen').waitFor()
    await checkThemes(tab, 'text-sent-later', size)
  }

  phone.double.fail({ type: 'refuse', status: 400, code: 21211 })
  await receive(phone, 'SM2', OWNER, 'Which platform?')
  const failed = words(page, 'Delegate', 'not sent: refused')
  await failed.waitFor()
  await checkThemes(page, 'text-failed', 'desk')
  await words(small, 'Delegate', 'not sent: refused').waitFor()
  await checkThemes(small, 'text-failed', 'phone')
  await failed.getByRole('button', { name: 'Send again' }).click()
  await phone.eventsUntil('the text', (all) => ofType(all, 'sms.sent').length === 2)
  expect(phone.double.messages).toHaveLength(2)
})
