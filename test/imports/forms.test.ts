import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'
import { chatGptConversation, claudeConversation, FERN, messagesOf, over, upload } from './exports.ts'

test('leaves out the citation marks of ChatGPT, and keeps the names that it marks', async () => {
  const service = await startWholeService()
  const texts = [
    'How large is \ue203Lisbon\ue204?',
    'It has 545,000 people. \ue200cite\ue202turn0search3\ue202turn0news1\ue201\nSo does ' +
      '\ue200entity\ue202["city","The Hague","Netherlands"]\ue201\ue200filecite\ue202turn0file1\ue201.',
    '\ue200 stays if nothing ends it.',
    '\ue200cite\ue202turn1view0\ue201',
  ]
  const path = join(testDirectory(), 'conversations.json')
  writeFileSync(path, JSON.stringify([chatGptConversation({ ...FERN, texts })]))
  expect(await over(service, await upload(service, path))).toMatchObject({ messages: 3 })
  const { items } = await messagesOf(service, 'chatgpt-fern')
  expect(items.map(({ text }: { text: string }) => text)).toEqual([
    'How large is Lisbon?',
    'It has 545,000 people.\nSo does The Hague.',
    '\ue200 stays if nothing ends it.',
  ])
})

test('gives a message that is dated in the future the time of the one before it', async () => {
  const nowMs = Date.UTC(2026, 5, 1)
  const service = await startWholeService({ nowMs: () => nowMs })
  const talks = [
    chatGptConversation({ id: 'a', at: '2026-05-31T23:59:00Z', texts: ['At last.', 'Now.', 'Soon.'] }),
    claudeConversation({ id: 'b', at: '2360-01-01T00:00:00Z', texts: ['Beam me up.', 'Energizing.'] }),
  ]
  const path = join(testDirectory(), 'conversations.json')
  writeFileSync(path, JSON.stringify(talks))
  expect(await over(service, await upload(service, path))).toMatchObject({ messages: 5 })
  const times = async (id: string) =>
    (await messagesOf(service, id)).items.map(({ at }: { at: string }) => at)
  const now = '2026-06-01T00:00:00.000Z'
  expect(await times('chatgpt-a')).toEqual(['2026-05-31T23:59:00.000Z', now, now])
  const unknown = '1970-01-01T00:00:00.000Z'
  expect(await times('claude-b')).toEqual([unknown, unknown])
})
