import { expect, onTestFinished, test } from 'vitest'
import { renderMarkdown } from '../../src/notes/markdown.ts'
import { createNoteRenderer } from '../../src/notes/renderer.ts'
import { mathTags } from '../../src/text/mathml.ts'
import { hostileTexts } from '../browser/hostile-texts.ts'

test('shows HTML as text without creating an element', () => {
  for (const text of hostileTexts) {
    const html = renderMarkdown(text)
    const tags = [...html.matchAll(/<([a-zA-Z][\w-]*)([^>]*)>/g)]
    for (const [tag, name, attributes] of tags) {
      if (!mathTags.includes(name ?? ''))
        expect(name, text).toMatch(
          /^(p|br|h\d|ul|ol|li|pre|code|span|em|strong|del|a|table|thead|tbody|tr|t[hd]|blockquote|hr)$/,
        )
      expect(attributes, tag).not.toMatch(/(?:^|\s)(?:on|style|src|id)/i)
      const href = /href="([^"]*)"/.exec(attributes ?? '')?.[1]
      if (href !== undefined) expect(href, text).toMatch(/^(?:https?:|mailto:|tel:|\/(?!\/))/)
    }
  }
})

test('colours code by its language and keeps it inert', () => {
  const html = renderMarkdown('```ts\nconst x = "</code><script>alert(1)</script>"\n```')
  expect(html).toContain('<span class="hljs-keyword">const</span>')
  expect(html).not.toContain('<script')
  expect(renderMarkdown('```no-such-language"><b>\na < b\n```')).toBe(
    '<pre tabindex="0"><code>a &lt; b</code></pre>\n',
  )
})

test('shows the checkbox of an item in the place of its marker', () => {
  expect(renderMarkdown('- [x] Passport\n- [ ] Jacket\n- Socks')).toBe(
    '<ul dir="auto">\n<li class="task">☑ Passport</li>\n<li class="task">☐ Jacket</li>\n<li>Socks</li>\n</ul>\n',
  )
})

test('renders formulas as MathML, and leaves prices, code and mistakes as written', () => {
  const html = renderMarkdown(
    'As $a^2$ says:\n\n\\[ \\sum_{i=1}^n x[i] < \\color{red}{2} \\]\n\nTea is $5, cake $10, `$b$` and $\\frac{1$.',
  )
  expect(html).toContain(
    '<span class="math"><span><math><semantics><mrow><msup><mi>a</mi><mn>2</mn></msup></mrow>' +
      '<annotation encoding="application/x-tex">a^2</annotation></semantics></math></span></span>',
  )
  expect(html).toContain('<p><span class="math wide" tabindex="0"><span><math display="block">')
  expect(html).toContain('<mstyle mathcolor="red">')
  expect(html.match(/<math/g)).toHaveLength(2)
  expect(html).not.toMatch(/xmlns|style=/)
  expect(html).toContain('<code>$b$</code> and <span class="math">$\\frac{1$</span>.')
})

test.each([
  ['25,000 formulas', '$x$ '.repeat(25_000)],
  ['formulas that write many elements', `$$${'\\bmod '.repeat(650)}$$\n\n`.repeat(25)],
  ['a macro that writes a million elements', `$$\\def\\a{${'x'.repeat(1990)}}${'\\a '.repeat(600)}$$`],
  ['macros that double', '$\\newcommand\\b[1]{\\b{#1#1}}\\b{x}$ '.repeat(2_500)],
  ['deeply nested formulas', `$$${'\\sqrt{'.repeat(560)}x${'}'.repeat(560)}$$\n\n`.repeat(25)],
  ['unclosed formulas', '$$x\n'.repeat(25_000)],
])('renders a note with %s in bounded time and size', { tags: ['long'] }, (_name, text) => {
  const before = process.cpuUsage()
  const html = renderMarkdown(text)
  const { user } = process.cpuUsage(before)
  expect(html.length).toBeLessThan(5_000_000)
  // Each takes less than a second on an idle machine.
  expect(user / 1e6).toBeLessThan(10)
})

test('opens external links apart without a referrer, and keeps internal links', () => {
  expect(renderMarkdown('[a](https://example.com)')).toBe(
    '<p><a href="https://example.com" target="_blank" rel="noopener noreferrer nofollow">a</a></p>\n',
  )
  expect(renderMarkdown('[a](/notes/1)')).toBe('<p><a href="/notes/1">a</a></p>\n')
  expect(renderMarkdown('[a](//attacker.example)')).toBe('<p><a>a</a></p>\n')
})

test('shows a text that takes too long to render as written, and renders the next one', async () => {
  const renderer = createNoteRenderer({ limitMs: 500 })
  onTestFinished(() => renderer.close())
  // Each unclosed opening is searched again, so the time is quadratic.
  const endless = '_a*'.repeat(30_000)
  const [plain, next] = await Promise.all([renderer.render(endless), renderer.render('**bold**')])
  expect(plain.startsWith('<pre tabindex="0">_a*_a*')).toBe(true)
  expect(next).toBe('<p><strong>bold</strong></p>\n')
})
