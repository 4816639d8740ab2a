import { createRoute } from '@hono/zod-openapi'
import { htmlPage } from '../contract/describe.ts'
import type { CoreDeps } from '../features.ts'
import { isNavigation } from '../server/access.ts'
import type { HttpContext, Routes } from '../server/env.ts'
import { Refusal } from '../server/problem.ts'
import { SHELL_FILE, serveFile } from '../server/static-files.ts'

/** The exact paths of the web app's pages. */
const PAGES = [
  '/',
  '/install',
  '/install.html',
  '/login',
  '/welcome',
  '/notes',
  '/notes/edit',
  '/memories',
  '/adaptations',
  '/tasks',
  '/timers',
  '/operations',
  '/settings',
  '/security',
  '/settings/memory',
  '/logs',
  '/logs.html',
]

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
  const show = (c: HttpContext) => {
    if (!shell) throw new Refusal(503, 'not_built', 'The web app is not built. Run "npm run build:web".')
    return serveFile(c, shell)
  }
  for (const page of PAGES) {
    routes.openAPIRegistry.registerPath(describe(page))
    routes.get(page, show)
  }
  // An address of the API that shows a page to a person who follows a link.
  routes.get('/memory-config', (c, next) => {
    c.header('Vary', 'Accept')
    return isNavigation(c.env.incoming) ? show(c) : next()
  })
}
