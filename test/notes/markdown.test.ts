import { expect, onTestFinished, test } from 'vitest'
import { renderMarkdown } from '../../src/notes/markdown.ts'
import { createNoteRenderer } from '../../src/notes/renderer.ts'
import { hostileTexts } from '../browser/hostile-texts.ts'

test('shows HTML as text without creating an element', () => {
  for (const text of hostileTexts) {
    const html = renderMarkdown(text)
    const tags = [...html.matchAll(/<([a-zA-Z][\w-]*)([^>]*)>/g)]
    for (const [tag, name, attributes] of tags) {
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
