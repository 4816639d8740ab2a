// @module-tag long

import { expect, test } from 'vitest'
import { pseudoText } from '../../src/language/pseudo.ts'
import { wavOf } from '../doubles/model/wav.ts'
import { script, speech, TRAIN } from '../phone/call/call-harness.ts'
import { startWithPhone } from '../phone/phone-harness.ts'
import { useBrowser } from './browser.ts'
import { browserThatHears } from './microphone.ts'
import { visit, watchTexts } from './page.ts'
import { checkPseudo, checkTexts, dataOf, narrowPseudo, speakPseudo } from './pseudo.ts'

const browser = useBrowser()
const context = narrowPseudo

test('talks, dictation and reading aloud have only texts of the catalogue, and fit 320 px', async () => {
  const house = await startWithPhone({
    environment: { TRANSCRIPTION_MODEL: 'test-ears', SPEECH_MODEL: 'test-voice' },
    script: script({
      reply: ({ index }) =>
        index === 0
          ? { audio: speech('caller-thanks'), transcript: 'Good morning.' }
          : {
              audio: Buffer.concat(Array.from({ length: 40 }, () => speech('reply-train'))),
              transcript: TRAIN,
            },
    }),
  })
  const { client } = house.service
  house.text.speakWith(() => wavOf(Array.from({ length: 24_000 * 60 }, () => 0)))
  house.text.reply({ text: 'Nine fifteen, platform four.' })
  await client.post('/api/chat', { content: 'When does the train leave?' })
  const hearing = await browserThatHears(4, 'caller-question', 8, 'caller-interrupts', 600)
  const page = await visit(hearing, house.service, { context })
  speakPseudo(page)
  // What is being spoken is no fact yet.
  const spoken = `Good morning. ${TRAIN}`
  const checked = async (name: string) => checkPseudo(page, name, `${await dataOf(client)} ${spoken}`)
  const said = page.getByRole('article').filter({ hasText: 'Nine fifteen, platform four.' })
  await said.focus()
  await said.getByRole('button', { name: 'More for this message' }).click()
  await checked('menu-of-reply')
  await page.getByRole('menuitem', { name: 'Read aloud' }).click()
  await page.getByText('Reading aloud…').waitFor()
  await checked('read-aloud')
  await page.getByRole('button', { name: 'Dictate', exact: true }).click()
  await page.locator('.recording').waitFor()
  await checked('dictation')
  await page.getByRole('button', { name: 'Stop dictation' }).press('Escape')

  const states = await watchTexts(page, 'section.on .state')
  await page.getByRole('button', { name: 'Talk with Delegate' }).click()
  const bar = page.getByRole('region', { name: 'Talk' })
  await bar.getByText('Listening').waitFor()
  await checked('talk')
  await bar.getByText('Delegate is speaking').waitFor()
  await checked('talk-speaking')
  await expect
    .poll(states)
    .toEqual(
      expect.arrayContaining(
        ['Connecting…', 'You are speaking', 'Interrupted: Delegate listens to you'].map(pseudoText),
      ),
    )
  checkTexts('talk-states', await states(), '')
  await bar.getByRole('button', { name: 'Mute' }).click()
  await checked('talk-muted')
  await client.post('/api/calls/current/hangup')
  await bar.getByRole('button', { name: 'Close' }).waitFor()
  await checked('talk-ended')
  await bar.getByRole('button', { name: 'Close' }).click()

  const silent = await startWithPhone({ environment: { REALTIME_MODEL: '' } })
  const other = await visit(browser(), silent.service, { context })
  speakPseudo(other)
  await other.getByRole('button', { name: 'Dictate', exact: true }).click()
  await other.getByText('No model writes down what you say.').waitFor()
  await other.getByRole('button', { name: 'Talk with Delegate' }).click()
  await other.getByText('No model can listen and speak.').waitFor()
  await checkPseudo(other, 'voice-missing', await dataOf(silent.service.client))
})
