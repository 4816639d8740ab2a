import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startWholeService } from '../support/service.ts'
import { findings } from './axe.ts'
import { useBrowser } from './browser.ts'
import { ends } from './ends.ts'
import { checkThemes, looks, tagsOf } from './looks.ts'
import { startWithModel } from './model.ts'
import { composer, phone, reply, say, visit, words } from './page.ts'

const browser = useBrowser()

const HEBREW = 'הרכבת לליסבון יוצאת בשעה 6:12, רציף 4.'
const TABLE = `| Month | What was spent, and on what | Amount | Share | Responsible | Correspondence |
|:--|:-:|--:|---|---|---|
| February | ${'the house and all that is in it '.repeat(4)} | 1,204,500 | 12.5% | Grandmother | Administration |`

async function expectRightToLeft(element: Locator): Promise<void> {
  const { first, last, width } = await ends(element)
  expect(last).toBeLessThan(first)
  expect(first).toBeGreaterThan(width / 2)
}

test('keeps the button that copies code beside it on a phone', { tags: ['long'] }, async () => {
  const { service, model } = await startWithModel()
  model.reply({ text: '```sh\nnpm run ledger:export > everything.jsonl\n```' })
  const page = await visit(browser(), service, { context: { viewport: phone } })
  await say(page, 'How do I export it?')
  const code = reply(page, 'everything.jsonl')
  const copy = code.getByRole('button', { name: 'Copy code' })
  await copy.waitFor()
  const [words, button] = await Promise.all([code.locator('pre').boundingBox(), copy.boundingBox()])
  expect((words?.x ?? 0) + (words?.width ?? 0)).toBeLessThanOrEqual(button?.x ?? 0)
})

test('lays out each paragraph in its own direction, whether the owner or the model wrote it', {
  tags: ['long'],
}, async () => {
  const { service, model } = await startWithModel()
  model.reply({ text: `${HEBREW}\n\n- ${HEBREW}\n\n> ${HEBREW}\n\nThe 6:12, platform 4.` })
  const page = await visit(browser(), service)
  await composer(page).fill(HEBREW)
  expect(await composer(page).evaluate((area) => getComputedStyle(area).direction)).toBe('rtl')
  await say(page, HEBREW)
  const answer = reply(page, 'platform 4')
  await answer.waitFor()
  await expectRightToLeft(words(page, 'You', HEBREW).locator('.typed'))
  await expectRightToLeft(answer.locator('.prose > p').first())
  await expectRightToLeft(answer.locator('li'))
  for (const part of ['ul', 'blockquote']) {
    expect(await answer.locator(part).evaluate((node) => getComputedStyle(node).direction)).toBe('rtl')
  }
  const { first, last } = await ends(answer.locator('.prose > p').last())
  expect(first).toBe(0)
  expect(last).toBeGreaterThan(first)

  const { json: note } = await service.client.post('/api/notes', { title: HEBREW, content: `- ${HEBREW}` })
  await page.goto(`/notes/${note.id}`)
  await expectRightToLeft(page.getByRole('heading', { level: 1 }))
  await expectRightToLeft(page.locator('main li').filter({ hasText: HEBREW }))
})

test('continues the numbering of a list after a code block', { tags: ['long'] }, async () => {
  const { service, model } = await startWithModel()
  const STEPS = '1. Stop it:\n\n```sh\nstop\n```\n\n2. Start it again.'
  model.reply({ text: STEPS })
  const page = await visit(browser(), service)
  await say(page, 'How?')
  const second = reply(page, 'Start it again').locator('ol').last()
  await second.waitFor()
  expect(await second.getAttribute('start')).toBe('2')
  const { json: note } = await service.client.post('/api/notes', { title: 'How', content: STEPS })
  await page.goto(`/notes/${note.id}`)
  expect(await page.locator('ol').last().getAttribute('start')).toBe('2')
})

/** The number of text lines and the alignment of each table cell. */
async function cells(page: Page) {
  return page.locator('tbody td').evaluateAll((all) =>
    all.map((cell) => {
      const range = document.createRange()
      range.selectNodeContents(cell)
      const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size
      return { lines, align: getComputedStyle(cell).textAlign.replace('-webkit-', '') }
    }),
  )
}

for (const [name, viewport] of [
  ['desktop', { width: 1280, height: 800 }],
  ['phone', phone],
] as const) {
  test(`keeps words and numbers in a table unbroken and its columns aligned (${name})`, {
    tags: tagsOf(name),
  }, async () => {
    const { service, model } = await startWithModel()
    model.reply({ text: `${TABLE}\n\nThat was all.` })
    const page = await visit(browser(), service, { context: { viewport } })
    await say(page, 'What did we spend?')
    await reply(page, 'That was all.').waitFor()
    const check = async () => {
      const [month, what, amount, share] = await cells(page)
      expect([month?.lines, amount?.lines, share?.lines]).toEqual([1, 1, 1])
      expect(what?.lines).toBeLessThan(12)
      expect([what?.align, amount?.align]).toEqual(['center', 'right'])
      const widest = await page.evaluate(() => document.documentElement.scrollWidth)
      expect(widest).toBe(viewport.width)
    }
    await check()
    const { json: note } = await service.client.post('/api/notes', { title: 'Spent', content: TABLE })
    await page.goto(`/notes/${note.id}`)
    await check()
  })
}

test('prints a note on white, and cuts off nothing, not even long words in code', async () => {
  const service = await startWholeService()
  const content = `\`\`\`\n${'x'.repeat(4000)}\n\`\`\`\n\n${'y'.repeat(4000)}`
  const { json: note } = await service.client.post('/api/notes', { title: 'Long', content })
  const page = await visit(browser(), service)
  await page.context().addCookies([{ name: 'delegate_theme', value: 'dark', url: service.origin }])
  await page.goto(`/notes/${note.id}`)
  const scheme = () => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)
  expect(await scheme()).toBe('dark')
  await page.emulateMedia({ media: 'print' })
  expect(await scheme()).toBe('light')
  const cut = await page
    .locator('main *')
    .evaluateAll(
      (all) =>
        all.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1 && clientWidth > 0).length,
    )
  expect(cut).toBe(0)
})

/** The TeX of the rendered formulas. */
const rendered = (message: Locator) => message.locator('.math annotation').allTextContents()

test('renders formulas as MathML, and leaves prices, code and mistakes as written', async () => {
  const { service, model } = await startWithModel()
  const matrix = '\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}'
  model.reply({
    text: [
      'As \\(a^2 + b_1 * c_1\\) says, and $e^{i\\pi} + 1 = 0$:',
      '\\[ \\sum_{i=1}^n i * 2 * x[i] \\]',
      `$$\n${matrix}\n$$`,
      'Tea is $5 and cake $10. Mind `$code$` and $\\frac{1$.',
    ].join('\n\n'),
  })
  const page = await visit(browser(), service)
  const loaded = () => page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name))
  await composer(page).waitFor()
  expect((await loaded()).filter((name) => /render-formula|highlight/.test(name))).toEqual([])
  await say(page, 'Prove it')
  const answer = reply(page, 'Tea is')
  await answer.waitFor()
  await expect
    .poll(() => rendered(answer))
    .toEqual(['a^2 + b_1 * c_1', 'e^{i\\pi} + 1 = 0', ' \\sum_{i=1}^n i * 2 * x[i] ', `\n${matrix}\n`])
  expect(await answer.locator('math[display="block"]').count()).toBe(2)
  expect(await answer.locator('.prose > p').last().innerText()).toBe(
    'Tea is $5 and cake $10. Mind $code$ and $\\frac{1$.',
  )
  // As MathML, which the browser lays out, not as unknown elements.
  expect(
    await answer
      .locator('munderover')
      .first()
      .evaluate((sum) => sum.namespaceURI),
  ).toBe('http://www.w3.org/1998/Math/MathML')
  expect((await loaded()).filter((name) => name.includes('highlight'))).toEqual([])
})

test('colours code, and copies a block as it was written', async () => {
  const { service, model } = await startWithModel()
  const code = 'const half = (x: number) => {\n  return x / 2 // <b>\n}'
  model.reply({
    text: `Like this:\n\n\`\`\`ts\n${code}\n\`\`\`\n\n\`\`\`\nplain & simple\n\`\`\`\n\nThat is all.`,
  })
  const page = await visit(browser(), service, {
    context: { permissions: ['clipboard-read', 'clipboard-write'] },
  })
  await say(page, 'Show me')
  const answer = reply(page, 'That is all.')
  await answer.waitFor()
  await answer.locator('.hljs-keyword').first().waitFor()
  expect(await answer.locator('.hljs-keyword').allTextContents()).toEqual(['const', 'return'])
  expect(await answer.locator('pre').first().textContent()).toBe(`${code}\n`)
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText())
  await answer.getByRole('button', { name: 'Copy code' }).first().click()
  await expect.poll(clipboard).toBe(code)
  await answer.getByRole('button', { name: 'Copy code' }).last().press('Enter')
  await expect.poll(clipboard).toBe('plain & simple')
})

const RICH = [
  'The area is $A = \\pi r^2$, and for long sums:',
  '$$\\begin{aligned} f(x) &= (x + 1)^2 + (x + 2)^2 + (x + 3)^2 \\\\ &= 3x^2 + 12x + 14 \\end{aligned}$$',
  'In a line: $\\alpha + \\beta + \\gamma + \\delta + \\epsilon + \\zeta + \\eta + \\theta + \\iota + \\kappa + \\lambda + \\mu + \\nu$.',
  "```python\ndef area(radius: float) -> float:\n    'The area of a circle.'\n    return 3.14159 * radius ** 2  # close enough for the garden\n```",
  'That is all.',
].join('\n\n')

for (const [look, context] of [...looks, ['narrow', { viewport: { width: 320, height: 640 } }]] as const) {
  test(`shows formulas and code in a message, in the preview of a note and on its page (${look})`, {
    tags: tagsOf(look),
  }, async () => {
    const { service, model } = await startWithModel()
    model.reply({ text: RICH })
    const page = await visit(browser(), service, { context })
    await say(page, 'Explain it')
    await reply(page, 'That is all.').waitFor()
    const check = async (name: string) => {
      await page.locator('.math math').nth(2).waitFor()
      await page.locator('.hljs-keyword').first().waitFor()
      const sideways = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      expect(sideways).toBeLessThanOrEqual(0)
      // What is wider than the page scrolls by itself.
      const widest = await page
        .locator('.prose > *')
        .evaluateAll((all) => Math.max(...all.map((block) => block.getBoundingClientRect().right)))
      expect(widest).toBeLessThanOrEqual(context.viewport.width)
      if (look === 'narrow') expect(await findings(page)).toEqual([])
      else await checkThemes(page, name, look)
    }
    await check('formulas-and-code')
    const { json: note } = await service.client.post('/api/notes', { title: 'Circles', content: RICH })
    await page.goto(`/notes/edit?id=${note.id}`)
    await page.getByRole('button', { name: 'Preview' }).click()
    await check('note-preview')
    // The service renders them here, without a script.
    await page.goto(`/notes/${note.id}`)
    await check('note-formulas')
    expect(
      await page
        .locator('mtable')
        .first()
        .evaluate((table) => table.namespaceURI),
    ).toBe('http://www.w3.org/1998/Math/MathML')
  })
}
