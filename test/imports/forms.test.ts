import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'
import { chatGptConversation, FERN, messagesOf, over, upload } from './exports.ts'

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
