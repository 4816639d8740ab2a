import { expect, test } from 'vitest'
import { wavOf } from '../doubles/model/wav.ts'
import { script, speech, TRAIN } from '../phone/call/call-harness.ts'
import { ofType, startWithPhone } from '../phone/phone-harness.ts'
import { GUEST } from '../phone/provider.ts'
import { useBrowser } from './browser.ts'
import { browserThatHears, watchMicrophones } from './microphone.ts'
import { choose, composer, inFocus, reply, visit, watchTexts, words } from './page.ts'

const browser = useBrowser()
const QUESTION = 'When does my train to Lisbon leave tomorrow?'
const greets = { audio: speech('caller-thanks'), transcript: 'Hello there, what is it?' }
const answersAtLength = {
  audio: Buffer.concat(Array.from({ length: 12 }, () => speech('reply-train'))),
  transcript: Array.from({ length: 12 }, () => TRAIN).join(' '),
}
const answers = { audio: speech('reply-train'), transcript: TRAIN }
const withSpeech = { TRANSCRIPTION_MODEL: 'test-ears', SPEECH_MODEL: 'test-voice' }

test('talks by microphone: shows the words, stops when interrupted, and records what was heard', async () => {
  const phone = await startWithPhone({
    script: script({
      reply: ({ index }) => (index === 0 ? greets : index === 1 ? answersAtLength : answers),
    }),
  })
  const talking = await browserThatHears(6, 'caller-question', 8, 'caller-interrupts', 60)
  const page = await visit(talking, phone.service)
  const states = await watchTexts(page, 'section[aria-label="Talk"] .state')
  await page.getByRole('button', { name: 'Talk with Delegate' }).click()
  const bar = page.getByRole('region', { name: 'Talk' })
  await inFocus(bar.getByRole('button', { name: 'Mute' })).waitFor()
  await words(page, 'You', QUESTION).first().waitFor()
  await reply(page, 'Your train to Lisbon').first().waitFor()
  // On a busy machine the greeting is interrupted, too.
  const repliesIn = (events: Parameters<typeof ofType>[0]) =>
    ofType(events, 'call.reply.spoken')
      .map(({ payload }) => payload)
      .filter(({ generatedText }) => generatedText !== greets.transcript)
  const [cut, last] = repliesIn(
    await phone.eventsUntil('the next answer', (events) => repliesIn(events).length === 2),
  )
  expect(cut).toMatchObject({ interrupted: true, generatedText: answersAtLength.transcript })
  // The browser queues what is generated faster than it is played, and only what was played counts.
  expect(cut.heardMs).toBeGreaterThan(1_000)
  expect(cut.heardMs).toBeLessThan(cut.sentMs / 2)
  expect(cut.generatedText.startsWith(cut.text)).toBe(true)
  expect(cut.text.length).toBeLessThan(cut.generatedText.length / 2)
  expect(last).toMatchObject({ text: TRAIN, interrupted: false })
  expect(phone.realtime.problems).toEqual([])
  expect(await states()).toEqual(
    expect.arrayContaining([
      'Connecting…',
      'Listening',
      'Delegate is speaking',
      'You are speaking',
      'Interrupted: Delegate listens to you',
    ]),
  )
  // The talk continues while the tab shows another page.
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Notes' }).click()
  await page.getByRole('heading', { name: 'Notes', level: 1 }).waitFor()
  await bar.getByRole('button', { name: 'Mute' }).click()
  await bar.getByText('Muted').waitFor()
  await bar.getByRole('button', { name: 'Hang up' }).press('Escape')
  await bar.waitFor({ state: 'detached' })
  const ended = await phone.eventsUntil('the end', (events) => ofType(events, 'call.ended').length > 0)
  expect(ofType(ended, 'call.ended')).toMatchObject([{ payload: { reason: 'caller_hung_up' } }])
  await page.goto('/')
  await page.getByText('Talk in the browser').waitFor()
})

test('talks without a realtime model, by transcription and speech', { tags: ['long'] }, async () => {
  const phone = await startWithPhone({
    carriage: 'speech',
    script: script({ reply: ({ index }) => (index === 0 ? greets : answers) }),
  })
  const page = await visit(await browserThatHears(5, 'caller-question', 60), phone.service)
  await page.getByRole('button', { name: 'Talk with Delegate' }).click()
  await words(page, 'You', QUESTION).waitFor()
  await reply(page, TRAIN).waitFor()
})

test('hangs up from another tab, and shows the reason in the tab that was talking', async () => {
  const phone = await startWithPhone({ script: script({ reply: () => greets }) })
  const page = await visit(await browserThatHears(60), phone.service)
  const other = await visit(browser(), phone.service)
  await page.getByRole('button', { name: 'Talk with Delegate' }).click()
  const call = other.getByRole('region', { name: 'Phone call' })
  await call.getByText('You are talking in another tab').waitFor()
  await other.getByRole('button', { name: 'Talk with Delegate' }).click()
  // A tab without a microphone leaves the talk as it is.
  await other.getByText('No microphone was found.').waitFor()
  await call.getByText('You are talking in another tab').waitFor()
  await call.getByRole('button', { name: 'Hang up' }).click()
  const bar = page.getByRole('region', { name: 'Talk' })
  await bar.getByText('you hung up in the browser').waitFor()
  expect(await page.getByRole('region', { name: 'Phone call' }).count()).toBe(0)
  // Another talk takes the place of the one that has ended.
  await page.getByRole('button', { name: 'Talk with Delegate' }).click()
  await inFocus(bar.getByRole('button', { name: 'Mute' })).waitFor()
  await call.getByRole('button', { name: 'Hang up' }).click()
  await bar.getByRole('button', { name: 'Close' }).click()
  await bar.waitFor({ state: 'detached' })
})

test('closes the microphone once the chat reports the end of the talk, even if the line says nothing', async () => {
  const phone = await startWithPhone({ script: script({ reply: () => greets }) })
  const page = await visit(await browserThatHears(60), phone.service)
  await page.routeWebSocket('/api/talk', (socket) => {
    const server = socket.connectToServer()
    // The network drops what the page sends, and the end.
    socket.onMessage(() => undefined)
    server.onClose(() => undefined)
  })
  await page.reload()
  const microphones = await watchMicrophones(page)
  await page.getByRole('button', { name: 'Talk with Delegate' }).click()
  const bar = page.getByRole('region', { name: 'Talk' })
  await inFocus(bar.getByRole('button', { name: 'Mute' })).waitFor()
  expect(await microphones.states()).toEqual(['live'])
  await phone.service.client.post('/api/calls/current/hangup')
  await bar.getByText('Talk ended').waitFor()
  await expect.poll(microphones.states).toEqual(['ended'])
})

test('ends a talk whose microphone is unplugged, and says so', async () => {
  const phone = await startWithPhone({ script: script({ reply: () => greets }) })
  const page = await visit(await browserThatHears(60), phone.service)
  const microphones = await watchMicrophones(page)
  await page.getByRole('button', { name: 'Talk with Delegate' }).click()
  const bar = page.getByRole('region', { name: 'Talk' })
  await inFocus(bar.getByRole('button', { name: 'Mute' })).waitFor()
  await microphones.unplug()
  await bar.getByText('The microphone stopped working.').waitFor()
  await bar.getByRole('button', { name: 'Close' }).waitFor()
  const ended = await phone.eventsUntil('the end', (events) => ofType(events, 'call.ended').length > 0)
  expect(ofType(ended, 'call.ended')).toMatchObject([{ payload: { reason: 'caller_hung_up' } }])
})

test('writes down what was dictated before the microphone was unplugged, and says so', async () => {
  const phone = await startWithPhone({ environment: withSpeech })
  phone.text.transcribeWith(() => ({ text: 'Buy oat milk.' }))
  const page = await visit(await browserThatHears('caller-question', 60), phone.service)
  const microphones = await watchMicrophones(page)
  await page.getByRole('button', { name: 'Dictate', exact: true }).press('Enter')
  await expect.poll(() => page.getByRole('log').textContent()).toBe('Dictation started')
  await microphones.unplug()
  await page.getByText('The microphone stopped working.').waitFor()
  await expect.poll(() => composer(page).inputValue()).toBe('Buy oat milk.')
})

test('mutes a talk while the owner dictates, and stops dictating when a talk begins', async () => {
  const phone = await startWithPhone({ script: script({ reply: () => greets }), environment: withSpeech })
  phone.text.transcribeWith(() => ({ text: 'Buy oat milk.' }))
  const page = await visit(await browserThatHears(60), phone.service)
  const microphones = await watchMicrophones(page)
  await page.getByRole('button', { name: 'Talk with Delegate' }).click()
  const bar = page.getByRole('region', { name: 'Talk' })
  const mute = bar.getByRole('button', { name: 'Mute' })
  await inFocus(mute).waitFor()
  await page.getByRole('button', { name: 'Dictate', exact: true }).press('Enter')
  await expect.poll(() => page.getByRole('log').textContent()).toBe('Dictation started')
  expect(await microphones.states()).toEqual(['live', 'live'])
  expect(await mute.getAttribute('aria-pressed')).toBe('true')
  await bar.getByRole('button', { name: 'Hang up' }).click()
  await bar.waitFor({ state: 'detached' })
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Find a command' }).fill('Talk with')
  await page.getByRole('option', { name: 'Talk with Delegate' }).click()
  await expect.poll(() => composer(page).inputValue()).toBe('Buy oat milk.')
  await expect.poll(microphones.states).toEqual(['ended', 'ended', 'live'])
  await bar.getByRole('button', { name: 'Mute', disabled: false }).waitFor()
  expect(await mute.getAttribute('aria-pressed')).toBe('false')
})

test('replaces a call of a guest', async () => {
  const phone = await startWithPhone({ script: script({ reply: () => answersAtLength }) })
  const page = await visit(await browserThatHears(60), phone.service)
  const { caller } = await phone.dial('CA1', GUEST)
  await page.getByRole('region', { name: 'Phone call' }).getByText('A guest on the phone').waitFor()
  await page.getByRole('button', { name: 'Talk with Delegate' }).click()
  await page.getByRole('region', { name: 'Talk' }).getByText('Delegate is speaking').waitFor()
  await caller.closed
})

test('explains that a microphone or a model is missing, and links to the settings', async () => {
  const phone = await startWithPhone({ environment: { REALTIME_MODEL: '' } })
  const { client } = phone.service
  phone.text.reply({ text: 'At nine.' })
  await client.post('/api/chat', { content: 'When?' })
  const page = await visit(browser(), phone.service, { expected: /status of 503/ })
  const explained = async (text: string) => {
    await page.getByText(text).waitFor()
    await page.getByRole('button', { name: 'Dismiss' }).first().click()
    await page.getByText(text).waitFor({ state: 'detached' })
  }
  await page.getByRole('button', { name: 'Dictate', exact: true }).click()
  await explained('No model writes down what you say.')
  await choose(reply(page, 'At nine.'), 'Read aloud')
  await page.getByText('No model reads aloud.').waitFor()
  await page.reload()
  await page.getByRole('button', { name: 'Talk with Delegate' }).click()
  await page.getByText('No model can listen and speak.').waitFor()
  await page.getByRole('button', { name: 'Open Settings' }).click()
  await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()

  await client.put('/api/config', { entries: { REALTIME_MODEL: 'test-realtime' } })
  await page.goto('/')
  await page.getByRole('button', { name: 'Talk with Delegate' }).click()
  await explained('No microphone was found. Connect one, then try again.')
  await page.getByRole('region', { name: 'Talk' }).waitFor({ state: 'detached' })
  await page.evaluate(() => {
    navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotAllowedError'))
  })
  await page.getByRole('button', { name: 'Talk with Delegate' }).click()
  await explained('The microphone is blocked. Allow it for this site in the settings of your browser')
})

test('writes what is dictated into the message field, and sends nothing by itself', async () => {
  const phone = await startWithPhone({ environment: withSpeech })
  phone.text.transcribeWith(() => ({ text: 'Buy oat milk.' }))
  const page = await visit(await browserThatHears('caller-question', 60), phone.service)
  await composer(page).fill('Please:')
  const button = page.getByRole('button', { name: 'Dictate', exact: true })
  const started = () => expect.poll(() => page.getByRole('log').textContent()).toBe('Dictation started')
  // By key, one press starts and the next one stops.
  await button.press('Enter')
  await page.locator('.recording').waitFor()
  await started()
  await page.getByRole('button', { name: 'Stop dictation' }).press(' ')
  await expect.poll(() => composer(page).inputValue()).toBe('Please: Buy oat milk.')
  await inFocus(composer(page)).waitFor()
  // By pointer, holding the button dictates until it is released.
  const box = await button.boundingBox()
  await page.mouse.move((box?.x ?? 0) + 10, (box?.y ?? 0) + 10)
  await page.mouse.down()
  await started()
  // Longer than a click.
  await page.waitForTimeout(800)
  await page.mouse.up()
  await expect.poll(() => composer(page).inputValue()).toBe('Please: Buy oat milk. Buy oat milk.')
  // Escape drops it.
  await button.click()
  await page.getByRole('button', { name: 'Stop dictation' }).press('Escape')
  await button.waitFor()
  expect(ofType(await phone.events(), 'chat.message.received')).toEqual([])
})

test('dictates again after a dictation was stopped or dropped before the microphone opened', async () => {
  const phone = await startWithPhone({ environment: withSpeech })
  let transcribed = 0
  phone.text.transcribeWith(() => {
    transcribed += 1
    return { text: 'Buy oat milk.' }
  })
  const page = await visit(await browserThatHears('caller-question', 60), phone.service)
  const microphones = await watchMicrophones(page, { prompt: true })
  const start = page.getByRole('button', { name: 'Dictate', exact: true })
  const stop = page.getByRole('button', { name: 'Stop dictation' })
  for (const [index, key] of ['Enter', 'Escape'].entries()) {
    await start.press('Enter')
    await expect.poll(async () => (await microphones.states()).length).toBe(index + 1)
    await stop.press(key)
  }
  await start.press('Enter')
  await expect.poll(microphones.states).toEqual(['requested', 'requested', 'requested'])
  await microphones.allow()
  await expect.poll(microphones.states).toEqual(['ended', 'ended', 'live'])
  const started = () => expect.poll(() => page.getByRole('log').textContent()).toBe('Dictation started')
  await started()
  await stop.press('Enter')
  await expect.poll(() => composer(page).inputValue()).toBe('Buy oat milk.')
  await start.press('Enter')
  await started()
  await stop.press('Escape')
  await start.waitFor()
  await expect.poll(microphones.states).toEqual(['ended', 'ended', 'ended', 'ended'])
  await start.press('Enter')
  await expect.poll(async () => (await microphones.states()).at(-1)).toBe('live')
  await page.getByRole('link', { name: 'Notes' }).click()
  await expect.poll(async () => (await microphones.states()).at(-1)).toBe('ended')
  expect(transcribed).toBe(1)
})

test('reads a reply aloud until it is stopped', async () => {
  const phone = await startWithPhone({ environment: withSpeech })
  phone.text.speakWith(() => wavOf(Array.from({ length: 24_000 }, () => 0)))
  phone.text.reply({ text: 'It leaves at nine. From platform four.' })
  await phone.service.client.post('/api/chat', { content: 'When does the train leave?' })
  const page = await visit(browser(), phone.service)
  const answer = reply(page, 'It leaves at nine.')
  await choose(answer, 'Read aloud')
  const toast = page.getByText('Reading aloud…')
  await toast.waitFor()
  // It ends by itself, once the audio was played.
  await toast.waitFor({ state: 'detached' })
  phone.text.speakWith(() => wavOf(Array.from({ length: 24_000 * 60 }, () => 0)))
  await choose(answer, 'Read aloud')
  await page.getByRole('button', { name: 'Stop', exact: true }).click()
  await toast.waitFor({ state: 'detached' })
})
