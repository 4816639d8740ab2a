import { z } from '@hono/zod-openapi'
import { languageNow, localeNow, msg } from '../../language/msg.ts'
import { dateFormat } from '../../lib/time.ts'
import type { Note } from '../../notes/reading.ts'
import { escapeHtml } from '../../text/escape-html.ts'
import { htmlPage, refusals, tagged } from '../contract/describe.ts'
import type { RouteDeps } from '../features.ts'
import { isNavigation } from '../server/access.ts'
import type { HttpContext, Routes } from '../server/env.ts'
import { unknown } from '../server/problem.ts'
import { SHELL_FILE, type StaticFiles } from '../server/static-files.ts'

const { get } = tagged('Notes')

/** The page is read-only: it runs no scripts and sends nothing. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const ICONS = {
  back: '<path d="m15 18-6-6 6-6"/>',
  edit: '<path d="M21.17 6.81a1 1 0 0 0-3.98-3.99L3.84 16.17a2 2 0 0 0-.5.83l-1.32 4.35a.5.5 0 0 0 .62.62l4.35-1.32a2 2 0 0 0 .83-.5z"/><path d="m15 5 4 4"/>',
  history:
    '<path d="M3 12a9 9 0 1 0 9-9 9.75 9.75 0 0 0-6.74 2.74L3 8"/><path d="M3 3v5h5"/><path d="M12 7v5l4 2"/>',
} as const

const show = get('/notes/{id}', {
  summary: 'Show a note as a page, with its markdown rendered and inert',
  request: { params: z.object({ id: z.string() }) },
  responses: {
    200: htmlPage('The note'),
    404: {
      description: 'No such note: a page for browsers, else a problem document',
      content: { ...htmlPage('').content, ...refusals(404)[404].content },
    },
  },
})

/** The page of one note: its markdown rendered, without scripts. */
export function notePageRoutes(routes: Routes, { notes, owner: { settings }, staticFiles }: RouteDeps): void {
  const styles = stylesheetsOf(staticFiles)

  routes.openAPIRegistry.registerPath(show)
  routes.get('/notes/:id', async (c) => {
    const note = await notes.get(c.req.param('id'))
    if (!note && !isNavigation(c.env.incoming)) {
      throw unknown('note')
    }
    const frame = { theme: themeOf(c), styles }
    c.header('content-security-policy', CONTENT_SECURITY_POLICY)
    c.header('vary', 'accept-language')
    c.header('content-language', languageNow())
    if (!note) return c.html(page({ ...frame, title: msg`No such note`, body: missing() }), 404)
    const html = await notes.renderer.render(withoutTitle(note))
    const body = noteView(note, html, settings.get('TIMEZONE'))
    return c.html(page({ ...frame, title: note.title, body }), 200)
  })
}

const missing =
  () => `<header class="bar"><a class="button" href="/notes">${icon('back')}${msg`Notes`}</a></header>
<main class="missing"><h1>${msg`There is no such note`}</h1>
<p>${msg`It may have been deleted.`} <a href="/notes?deleted">${msg`Deleted notes`}</a> ${msg`can be restored until they are erased.`}</p></main>`

function noteView(note: Note, html: string, timeZone: string): string {
  const id = encodeURIComponent(note.id)
  const by = note.source === 'owner' ? msg`Written by you` : msg`Written by Delegate`
  const revision = note.revision === 1 ? '' : `<span>${msg`revision ${note.revision}`}</span>`
  return `<header class="bar">
<a class="button" href="/notes">${icon('back')}${msg`Notes`}</a>
<nav aria-label="${msg`This note`}">
<a class="button" href="/notes/edit?id=${id}&amp;history">${icon('history')}${msg`History`}</a>
<a class="button primary" href="/notes/edit?id=${id}">${icon('edit')}${msg`Edit`}</a>
</nav>
</header>
<main><article>
<h1>${escapeHtml(note.title || msg`Untitled`)}</h1>
<p class="facts"><span>${by}</span>${time(note.updatedAt, timeZone)}${revision}</p>
<div class="prose">${html}</div>
</article></main>`
}

function time(at: string, timeZone: string): string {
  const words = dateFormat(localeNow(), { dateStyle: 'long', timeStyle: 'short', timeZone })
  return `<time datetime="${at}">${escapeHtml(words.format(new Date(at)))}</time>`
}

/**
 * Removes a leading heading that repeats the title. Not by one regex, which backtracks for hours on long runs
 * of spaces.
 */
function withoutTitle({ title, content }: Note): string {
  const start = /^\s*#{1,2} +/.exec(content)?.[0].length
  if (start === undefined || !content.startsWith(title, start)) return content
  const [, rest] = /^(?: +#+)? *\r?\n([\s\S]*)$/.exec(content.slice(start + title.length)) ?? []
  return rest ?? content
}

function icon(name: keyof typeof ICONS): string {
  return `<svg viewBox="0 0 24 24" aria-hidden="true">${ICONS[name]}</svg>`
}

function page(options: {
  readonly title: string
  readonly theme: 'light' | 'dark' | null
  readonly styles: readonly string[]
  readonly body: string
}): string {
  const theme = options.theme === null ? '' : ` data-theme="${options.theme}"`
  const links = options.styles.map((href) => `<link rel="stylesheet" href="${escapeHtml(href)}">`)
  return `<!doctype html>
<html lang="${languageNow()}"${theme}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>${escapeHtml(options.title)} · Delegate</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
${links.join('\n')}
</head>
<body>
${options.body}
</body>
</html>
`
}

/** The web app's stylesheets, for its colours and sizes, and the page's own. */
function stylesheetsOf(staticFiles: StaticFiles): readonly string[] {
  const shell = new TextDecoder().decode(staticFiles.get(SHELL_FILE)?.content)
  const links = [...shell.matchAll(/<link\b[^<>]*>/g)].filter(([link]) => link.includes('rel="stylesheet"'))
  const hrefs = links.flatMap(([link]) => /href="([^"]+)"/.exec(link)?.[1] ?? [])
  return [...hrefs, '/note.css']
}

/** The theme chosen in the web app; null follows the system. */
function themeOf(c: HttpContext): 'light' | 'dark' | null {
  const theme = /(?:^|;\s*)delegate_theme=(light|dark)(?:;|$)/.exec(c.req.header('cookie') ?? '')?.[1]
  return theme === 'light' || theme === 'dark' ? theme : null
}
