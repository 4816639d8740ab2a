import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { steps } from '../doubles/assistant/assistant.ts'
import { ASSISTANT } from '../tasks/task-harness.ts'
import { useBrowser } from './browser.ts'
import { hostileTexts } from './hostile-texts.ts'
import { startWithModel } from './model.ts'
import { openSearch, reply, say, visit, words } from './page.ts'

const browser = useBrowser()

/** Records calls of `alert`, which the hostile texts make if they run. Returns a reader of the record. */
async function watchExecutions(page: Page): Promise<() => Promise<unknown>> {
  page.on('dialog', (dialog) => void dialog.dismiss())
  await page.addInitScript(() => {
    const executed: string[] = []
    Object.assign(window, { executed, alert: () => executed.push('alert') })
  })
  await page.reload()
  return () => page.evaluate(() => Reflect.get(window, 'executed'))
}

// `visit` also fails on requests to other origins and on violations of the content security policy.
for (const [which, texts] of [
  ['a third of the texts', hostileTexts.filter((_text, index) => index % 3 === 0)],
  ['all texts', hostileTexts],
] as const)
  test(`runs and fetches nothing for hostile text from the owner or the model (${which})`, {
    tags: texts === hostileTexts ? ['long'] : [],
  }, async () => {
    const { service, model } = await startWithModel()
    const page = await visit(browser(), service)
    const executed = await watchExecutions(page)
    const links: (string | null)[][] = []
    for (const [index, text] of texts.entries()) {
      model.reply({ text: [text.slice(0, 9), text.slice(9), `\n\ndone ${index}.`] })
      await say(page, `${text} ${index}`)
      await reply(page, `done ${index}.`).waitFor()
      // Collected while in view: rows far above are removed from the document.
      links.push(
        ...(await page
          .locator('.prose a[href]')
          .evaluateAll((all) => all.map((link) => [link.getAttribute('href'), link.getAttribute('rel')]))),
      )
      expect(
        await page.locator('.prose :is(img, svg, iframe, form, input, style, script, object)').count(),
      ).toBe(0)
    }
    expect(links).not.toEqual([])
    for (const [href, rel] of links) {
      expect(href).toMatch(/^(https?:|mailto:|tel:|\/[^/])/)
      expect(rel).toContain('noopener')
    }
    expect(await executed()).toEqual([])

    await page.reload()
    await words(page, 'Delegate', `done ${texts.length - 1}.`).waitFor()
    // All in one call: unfolding a row moves others, some of them out of the document.
    await page.locator('.activity .fold').evaluateAll((all) => {
      for (const fold of all) if (fold instanceof HTMLElement) fold.click()
    })
    await page.locator('.step-row').first().waitFor()
    expect(await executed()).toEqual([])
  })

test.each([
  ['a formula of 96 kB', `$$${'x + '.repeat(24_000)}x$$`],
  ['a deeply nested formula', `$$${'\\frac{1}{'.repeat(9_000)}x${'}'.repeat(9_000)}$$`],
  ['a formula nested as deeply as is rendered', `$$${'\\sqrt{'.repeat(560)}x${'}'.repeat(560)}$$`],
  ['a macro that writes millions of elements', `$$\\def\\a{${'x'.repeat(1990)}}${'\\a '.repeat(600)}$$`],
  ['500 formulas', '$\\sqrt{x}$ '.repeat(500)],
  ['many unclosed formulas', '$x '.repeat(32_000)],
  ['a code block of 95 kB', `\`\`\`js\n${'('.repeat(95_000)}\n\`\`\``],
])('stays quick for %s', { tags: ['long'] }, async (_name, text) => {
  const { service, model } = await startWithModel({ environment: { LONG_ANSWER_CHARS: '100000' } })
  model.reply({ text: `${text}\n\nDone.` })
  // What is said for the summary of so long a conversation.
  model.answerWith(() => ({ text: 'A long text.' }))
  const page = await visit(browser(), service)
  await say(page, 'Go')
  await reply(page, 'Done.').waitFor()
  // Nothing hangs: the page still draws.
  const startedMs = Date.now()
  await page.evaluate(() => new Promise(requestAnimationFrame))
  expect(Date.now() - startedMs).toBeLessThan(10_000)
})

test.each([
  ['is nested too deeply', '>'.repeat(4_000)],
  ['is a word of over 2,000 characters', '*a*'.repeat(1_000)],
])('shows a reply and a note unrendered if it %s', async (_reason, text) => {
  const { service, model } = await startWithModel({ environment: { LONG_ANSWER_CHARS: '100000' } })
  model.reply({ text: `${text} end` })
  const page = await visit(browser(), service)
  await say(page, 'Go')
  expect(await reply(page, 'end').locator('.prose').textContent()).toContain(text)
  model.reply({ text: 'Still here.' })
  await say(page, 'And now?')
  await reply(page, 'Still here.').waitFor()
  await page.reload()
  await reply(page, 'Still here.').waitFor()
  await words(page, 'You', 'Go').waitFor()

  const { json: note } = await service.client.post('/api/notes', { title: 'Long', content: text })
  await page.goto(`/notes/edit?id=${note.id}`)
  await page.getByRole('button', { name: 'Preview' }).click()
  const preview = page.getByRole('region', { name: 'Preview' })
  await preview.getByText(text.slice(0, 3)).waitFor()
  expect(await preview.locator('.prose').textContent()).toContain(text)
})

test('runs nothing for hostile text in search results', { tags: ['long'] }, async () => {
  const { service, model } = await startWithModel()
  model.answerWith(() => ({ text: 'Noted.' }))
  for (const text of hostileTexts.slice(0, 8)) {
    await service.client.post('/api/chat', { content: `marker ${text}` })
  }
  const page = await visit(browser(), service)
  const executed = await watchExecutions(page)
  await openSearch(page)
  await page.keyboard.type('marker')
  await page
    .getByRole('button', { name: /marker/ })
    .first()
    .waitFor()
  expect(await page.locator('.results :is(img, svg:not(dg-icon svg), script)').count()).toBe(0)
  expect(await executed()).toEqual([])
})

test('runs nothing for hostile names and outcomes on the pages that list them', {
  tags: ['long'],
}, async () => {
  const { service, model } = await startWithModel({ environment: { COPILOT_COMMAND: ASSISTANT } })
  model.answerWith(() => ({ text: 'Noted.' }))
  const { client } = service
  const statuses: number[] = []
  // The service rejects names that contain NUL.
  const names = hostileTexts.filter((text) => !text.includes('\u0000')).map((text) => text.slice(0, 120))
  for (const [index, text] of names.entries()) {
    const answers = [
      await client.post(`/api/adaptations/a${index}`, { title: text, content: text }),
      await client.post('/api/timers', { title: text, at: '2031-04-11T08:00' }),
    ]
    statuses.push(...answers.map(({ status }) => status))
  }
  const outcome = names.slice(0, 20).join('\n')
  const task = await client.post('/api/tasks', { title: names[1], prompt: steps({ print: outcome }) })
  expect([...statuses, task.status].every((status) => status === 201)).toBe(true)
  const page = await visit(browser(), service)
  const memories = names.map((text, index) => ({
    ...{
      id: `m${index}`,
      text,
      kind: text,
      strength: 0.5,
      reinforcements: 1,
      status: 'active',
      validUntil: null,
    },
    ...{ createdAt: '2026-01-01T08:00:00.000Z', lastReinforcedAt: null, lastSurfacedAt: null },
    sources: [{ seq: 1, conversationId: 'c' }],
  }))
  await page.route(/\/api\/memories\?.*pinned=true/, (route) =>
    route.fulfill({ json: { memories: [], count: 0, nextCursor: null } }),
  )
  await page.route(/\/api\/memories\?.*pinned=false/, (route) =>
    route.fulfill({ json: { memories, count: memories.length, nextCursor: null } }),
  )
  const executed = await watchExecutions(page)
  const expectNothingRan = async () => {
    const forbidden = 'img, iframe, form[action], object, embed, script, video, audio, base, link, style'
    expect(await page.locator('main').locator(`:is(${forbidden})`).count()).toBe(0)
    expect(await executed()).toEqual([])
  }
  for (const [path, label] of [
    ['/adaptations', 'Standing instructions'],
    ['/timers', 'Coming up'],
    ['/memories', 'Memories'],
  ] as const) {
    await page.goto(path)
    const items = page.getByRole('list', { name: label }).getByRole('listitem')
    await expect.poll(() => items.count()).toBe(names.length)
    await expectNothingRan()
  }
  await page.goto('/adaptations')
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByText('Standing instructions of the owner').waitFor()
  await expectNothingRan()
  await page.goto('/tasks')
  await page.getByRole('list', { name: 'Finished' }).getByRole('button', { name: 'Details' }).click()
  await page.getByText('alert(1)').last().waitFor()
  await expectNothingRan()
  await page.goto('/')
  await words(page, 'Delegate', 'is done').last().waitFor()
  await expectNothingRan()
})
