import { Marked } from 'marked'
import { expect, test } from 'vitest'
import { formulaSource, formulas, texOf } from '../../src/text/formula.ts'
import { renderFormula } from '../../src/text/mathml.ts'

const marked = new Marked({ gfm: true, breaks: true, extensions: formulas(formulaSource) })

/** The formulas of a text, with their delimiters. */
function found(text: string): readonly string[] {
  const html = marked.parse(text, { async: false })
  return [...html.matchAll(/<span class="math">([\s\S]*?)<\/span>/g)].map(([, raw = '']) =>
    raw.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&').replaceAll('&#39;', "'"),
  )
}

test.each([
  ['As $a^2 + b^2 = c^2$ says', ['$a^2 + b^2 = c^2$']],
  ['$a_1$ and $b_1$, not *c*', ['$a_1$', '$b_1$']],
  ['(so $x < 5$)', ['$x < 5$']],
  ['**Sum:** $n$, $2x + 3 = 5$ and $5$.', ['$n$', '$2x + 3 = 5$', '$5$']],
  ["the slope is $f'(x)$", ["$f'(x)$"]],
  ['it costs $\\$5$', ['$\\$5$']],
  ['as \\(a^2\\) and \\[b * c\\] say', ['\\(a^2\\)', '\\[b * c\\]']],
  ['so $$E = mc^2$$ holds', ['$$E = mc^2$$']],
  ['Thus:\n$$\na\n= b\n+ c\n- d\n$$\nwhich *is* it', ['$$\na\n= b\n+ c\n- d\n$$']],
  ['\\[\n\\sum_{i=1}^n x[i]\n\\]', ['\\[\n\\sum_{i=1}^n x[i]\n\\]']],
  ['- one\n- $x$\n\n  $$y$$', ['$x$', '$$y$$']],
  ['| a | b |\n|---|---|\n| $x$ | $5 |', ['$x$']],
])('finds the formulas in %j', (text, expected) => {
  expect(found(text)).toEqual(expected)
})

test.each([
  'between $5 and $10',
  'from $5 to 10$',
  '$5-$10, or $5/$6 each, or US$5 and US$6',
  '$1,000.50 is more than $999',
  'about \\$5 and \\$6',
  'set $HOME/bin:$PATH and $SHELL',
  "use '$' or '$' here",
  'a lone $ and a $ here',
  'the code `$x$` and ``$y$``',
  'from $5 to `10$`',
  '```\n$x$\n\\(y\\)\n$$z$$\n```',
  '    $x$',
  'an open $x and\n\nanother $y',
  'an open $$x and \\(y and \\[z',
  'x$y$z',
  '$$',
  '$$$$',
  '\\\\(a\\\\)',
])('finds no formula in %j', (text) => {
  expect(found(text)).toEqual([])
})

test('reads the source of a formula and whether it stands on its own', () => {
  expect(texOf('$a$')).toEqual({ tex: 'a', isDisplayed: false })
  expect(texOf('\\(a\\)')).toEqual({ tex: 'a', isDisplayed: false })
  expect(texOf('$$a$$')).toEqual({ tex: 'a', isDisplayed: true })
  expect(texOf('\\[a\\]')).toEqual({ tex: 'a', isDisplayed: true })
})

test('gives long and displayed formulas a line of their own', () => {
  expect(renderFormula('$a<b$')).toMatchObject({ isWide: false })
  expect(renderFormula('$$a$$')).toMatchObject({ isWide: true })
  expect(renderFormula(`$${'<'.repeat(24)}$`)).toMatchObject({ isWide: false })
  expect(renderFormula(`$${'<'.repeat(25)}$`)).toMatchObject({ isWide: true })
})

test.each([
  '$\\frac{1$',
  '$\\def\\a{xx}\\a\\a$',
  '$\\newcommand\\a{xx}\\a$',
  '$\\let\\a=x\\a$',
  '$\\message{private}$',
  '$\\show x$',
  `$${'x'.repeat(4000)}$`,
])('does not render %s', (raw) => {
  expect(renderFormula(raw)).toBeNull()
})
