import { expect, test } from 'vitest'
import { OWNER } from '../../phone/provider.ts'
import { startWithTexts, text } from '../../sms/sms-harness.ts'

test('reports telephony by the outcome of the last text, and stays ready if it failed', async () => {
  const phone = await startWithTexts()
  const telephony = async () => {
    const { status, json } = await phone.service.client.get('/ready')
    return { status, telephony: json.checks.telephony, reactors: json.checks.reactors.ok }
  }
  expect(await telephony()).toEqual({ status: 200, telephony: { ok: true }, reactors: true })
  phone.double.fail(
    ...Array.from({ length: 50 }, () => ({ type: 'refuse', status: 500, code: 20500 }) as const),
  )
  phone.text.reply({ text: 'At nine.' })
  await text(phone, 'SM1', OWNER, 'When?')
  await expect.poll(telephony).toEqual({
    status: 200,
    telephony: { ok: false, detail: expect.stringMatching(/^The last text failed at .*Z: unavailable\.$/) },
    reactors: true,
  })
  const { json } = await phone.service.client.get('/api/session/health')
  expect(json.lastText).toEqual({ at: expect.any(String), failure: 'unavailable' })
})
