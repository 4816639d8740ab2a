// @module-tag long

import { test } from 'vitest'
import { wavOf } from '../doubles/model/wav.ts'
import { script, speech, TRAIN } from '../phone/call/call-harness.ts'
import { startWithPhone } from '../phone/phone-harness.ts'
import { useBrowser } from './browser.ts'
import { checkThemes, looks } from './looks.ts'
import { browserThatHears } from './microphone.ts'
import { choose, composer, reply, visit, words } from './page.ts'

useBrowser()

const TIMES = 40
const greets = { audio: speech('caller-thanks'), transcript: 'Good morning. What is on your mind?' }
/** It still plays when the last picture is taken. */
const answers = {
  audio: Buffer.concat(Array.from({ length: TIMES }, () => speech('reply-train'))),
  transcript: Array.from({ length: TIMES }, () => TRAIN).join(' '),
}

for (const [look, context] of looks) {
  test(`a talk is accessible while it runs, muted, and at its end (${look})`, async () => {
    const phone = await startWithPhone({
      script: script({ reply: ({ index }) => (index === 0 ? greets : answers) }),
    })
    const page = await visit(await browserThatHears(4, 'caller-question', 600), phone.service, { context })
    await page.getByRole('button', { name: 'Talk with Delegate' }).click()
    const bar = page.getByRole('region', { name: 'Talk' })
    await words(page, 'You', 'When does my train').first().waitFor()
    await bar.getByText('Delegate is speaking').waitFor()
    await page
      .getByRole('article', { name: 'Delegate, speaking' })
      .filter({ hasText: 'platform four' })
      .waitFor()
    await checkThemes(page, 'talk', look)
    await bar.getByRole('button', { name: 'Mute' }).click()
    await checkThemes(page, 'talk-muted', look)
    await phone.service.client.post('/api/calls/current/hangup')
    await bar.getByText('you hung up in the browser').waitFor()
    await checkThemes(page, 'talk-ended', look)
  })

  test(`dictation, reading aloud and the lack of a model are accessible (${look})`, async () => {
    const phone = await startWithPhone({
      environment: { REALTIME_MODEL: '', TRANSCRIPTION_MODEL: 'test-ears', SPEECH_MODEL: 'test-voice' },
    })
    phone.text.speakWith(() => wavOf(Array.from({ length: 24_000 * 60 }, () => 0)))
    phone.text.reply({ text: 'It leaves at nine fifteen, from platform four.' })
    await phone.service.client.post('/api/chat', { content: 'When does the train leave?' })
    const page = await visit(await browserThatHears(600), phone.service, { context })
    const answer = reply(page, 'It leaves at nine fifteen')
    await choose(answer, 'Read aloud')
    await page.getByText('Reading aloud…').waitFor()
    await checkThemes(page, 'read-aloud', look)
    // Dictation ends it.
    await composer(page).fill('Remind me tomorrow at nine to')
    await page.getByRole('button', { name: 'Dictate', exact: true }).click()
    await page.locator('.recording').waitFor()
    await page.getByText('Reading aloud…').waitFor({ state: 'detached' })
    await checkThemes(page, 'dictation', look)
    await page.getByRole('button', { name: 'Stop dictation' }).press('Escape')

    const silent = await startWithPhone({ environment: { REALTIME_MODEL: '' } })
    const other = await visit(await browserThatHears(600), silent.service, { context })
    await other.getByRole('button', { name: 'Talk with Delegate' }).click()
    await other.getByText('No model can listen and speak.').waitFor()
    await checkThemes(other, 'talk-missing', look)
  })
}
