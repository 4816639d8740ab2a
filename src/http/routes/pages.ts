import { createRoute } from '@hono/zod-openapi'
import { htmlPage } from '../contract/describe.ts'
import type { CoreDeps } from '../features.ts'
import { isNavigation } from '../server/access.ts'
import type { HttpContext, Routes } from '../server/env.ts'
import { preloadHeader } from '../server/page-code.ts'
import { Refusal } from '../server/problem.ts'
import { SHELL_FILE, serveFile } from '../server/static-files.ts'

/** The exact paths of the web app's pages, and the modules that each needs to render. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  '/': ['src/timeline/timeline-page.ts', 'src/design/markdown.ts'],
  '/install': ['src/setup/install-page.ts'],
  '/install.html': ['src/setup/install-page.ts'],
  '/login': ['src/setup/login-page.ts'],
  '/welcome': ['src/setup/welcome-page.ts'],
  '/notes': ['src/notes/notes-page.ts'],
  '/notes/edit': ['src/notes/note-editor-page.ts'],
  '/memories': ['src/memories/memories-page.ts'],
  '/adaptations': ['src/adaptations/adaptations-page.ts'],
  '/tasks': ['src/tasks/tasks-page.ts'],
  '/timers': ['src/timers/timers-page.ts'],
  '/operations': ['src/operations/operations-page.ts'],
  '/settings': ['src/settings/settings-page.ts'],
  '/settings/memory': ['src/memories/memory-insights-page.ts'],
  '/logs': ['src/logs/logs-page.ts'],
  '/logs.html': ['src/logs/logs-page.ts'],
}

const PUBLIC_PAGES: readonly string[] = ['/install', '/install.html', '/login']

const describe = (path: string) =>
  createRoute({
    method: 'get',
    path,
    tags: ['Pages'],
    summary: 'A page of the web app',
    ...(PUBLIC_PAGES.includes(path) ? { security: [] } : {}),
    responses: {
      200: htmlPage('The page'),
      302: { description: 'To `/install` before set-up, to `/login` without a session' },
    },
  })

/** Serves the web app at each page's address. */
export function pageRoutes(routes: Routes, { staticFiles }: CoreDeps): void {
  const shell = staticFiles.get(SHELL_FILE)
  const createHandler = (modules: readonly string[]) => {
    const link = preloadHeader(staticFiles, modules)
    return (c: HttpContext) => {
      if (!shell) throw new Refusal(503, 'not_built', 'The web app is not built. Run "npm run build:web".')
      if (link !== null) c.header('Link', link)
      return serveFile(c, shell)
    }
  }
  for (const [page, modules] of Object.entries(PAGES)) {
    routes.openAPIRegistry.registerPath(describe(page))
    routes.get(page, createHandler(modules))
  }
  // An address of the API that shows a page to a person who follows a link.
  const showMemoryConfig = createHandler(['src/settings/memory-config-page.ts'])
  routes.get('/memory-config', (c, next) => {
    c.header('Vary', 'Accept')
    return isNavigation(c.env.incoming) ? showMemoryConfig(c) : next()
  })
}
