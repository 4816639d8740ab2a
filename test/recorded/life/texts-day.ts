import { GUEST, OWNER } from '../../phone/provider.ts'
import type { Day, Life } from './life.ts'

const STRANGER = '+14155550177'
const busy = { type: 'refuse', status: 503, code: 20503 } as const

/** Texts of the owner and of guests: answered, ignored, failed, delayed, undelivered, and over budget. */
export async function textsDay(life: Life): Promise<void> {
  const day = await life.begin('2026-11-05T08:00:00.000Z')
  await owners(life, day)
  await guests(day)
  await troubles(life, day)
  await day.end()

  // The daily tokens are used up, and the reply says so.
  const poor = await life.begin('2026-11-05T20:00:00.000Z', { DAILY_TOKENS: '1' })
  await poor.say('Are you there?')
  await poor.end()
}

async function answered(day: Day, ...given: Parameters<Day['text']>): Promise<void> {
  const afterSeq = await day.head()
  await day.text(...given)
  await day.until('the text to be over', async () =>
    (await day.events()).some(
      ({ seq, type }) => seq > afterSeq && ['sms.sent', 'sms.failed', 'delivery.unknown'].includes(type),
    ),
  )
}

async function owners(life: Life, day: Day): Promise<void> {
  await answered(day, 'SM1', OWNER, 'When does my train leave?', { text: 'At nine fifteen.' })
  const [first] = life.telephony.messages.slice(-1)
  const sid = first?.sid ?? ''
  await day.provider.post('/sms/status', { MessageSid: sid, MessageStatus: 'delivered' })
  await answered(day, 'SM2', OWNER, 'Tell me everything about trains.', {
    text: 'Trains run on rails. '.repeat(90),
  })
  // Over texts, deleting needs confirmation in the browser.
  await answered(
    day,
    'SM3',
    OWNER,
    'Delete the note Trip.',
    { toolCalls: [{ name: 'delete_note', arguments: { query: 'Trip' } }] },
    { text: 'It waits for you in the browser.' },
  )
  await answered(day, 'SM4', OWNER, 'Thanks.', { text: 'You are welcome.' })
  const lost = life.telephony.messages.at(-1)?.sid ?? ''
  const undelivered = { MessageSid: lost, MessageStatus: 'undelivered', ErrorCode: '30003' }
  await day.provider.post('/sms/status', undelivered)
  await day.seen('sms.undelivered')
  await day.text('SM5', OWNER, '')
  await day.quiet()
}

async function guests(day: Day): Promise<void> {
  await answered(day, 'SM11', GUEST, 'Hello, who is this?', { text: 'A delegate.' })
  await day.text('SM12', GUEST, 'STOP')
  await day.text('SM13', GUEST, 'START')
  await day.text('SM14', GUEST, 'HELP')
  await day.text('SM15', STRANGER, 'STOP')
  await day.send('PUT', '/api/config', { entries: { GUEST_DAILY_MESSAGES: 4 } })
  await day.text('SM16', GUEST, 'One too many.')
  await day.send('DELETE', '/api/config/GUEST_DAILY_MESSAGES')
}

async function troubles(life: Life, day: Day): Promise<void> {
  const { telephony } = life
  // The recipient has opted out.
  await day.say(
    `Text ${STRANGER} hello.`,
    { toolCalls: [{ name: 'send_sms', arguments: { to: STRANGER, text: 'Hello.' } }] },
    { text: 'They want no texts.' },
  )
  telephony.fail({ type: 'refuse', status: 400, code: 21211 })
  await answered(day, 'SM21', OWNER, 'Do you hear me?', { text: 'I do.' })
  const failed = await day.seen('sms.failed')
  await day.post(`/api/outbound/texts/${failed.payload.deliveryId}/retry`)
  await day.seen('sms.sent', failed.seq)
  telephony.fail(busy, busy, busy, busy)
  await answered(day, 'SM22', OWNER, 'And now?', { text: 'Now too.' })
  await day.seen('sms.delayed')
  // The connection drops, and the provider's list lacks the text.
  telephony.fail({ type: 'cut' })
  await answered(day, 'SM23', OWNER, 'Is it there?', { text: 'Who knows.' })
  await day.quiet()
}
