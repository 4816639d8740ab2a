import { createRoute } from '@hono/zod-openapi'
import { languageNow, msg } from '../../language/msg.ts'
import { htmlPage } from '../contract/describe.ts'
import type { CoreDeps } from '../features.ts'
import { isNavigation } from '../server/access.ts'
import type { HttpContext, Routes } from '../server/env.ts'
import { Refusal } from '../server/problem.ts'
import { serveFile, shellOf } from '../server/static-files.ts'

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
  '/data',
  '/imported',
  '/imported/read',
  '/imported/memories',
  '/logs',
  '/logs.html',
]

/** An address of the API that shows a page to a person who follows a link. */
const PAGE_OF_API = '/memory-config'

/** Where a browser shows the web app. */
export const APP_PATHS: readonly string[] = [...PAGES, PAGE_OF_API]

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
export function pageRoutes(routes: Routes, { staticFiles, language }: CoreDeps): void {
  const show = (c: HttpContext) => {
    const shell = shellOf(staticFiles)
    if (!shell) throw new Refusal(503, 'not_built', msg`The web app is not built. Run "npm run build:web".`)
    if (c.get('session') !== null) language.saw(languageNow())
    return serveFile(c, shell)
  }
  for (const page of PAGES) {
    routes.openAPIRegistry.registerPath(describe(page))
    routes.get(page, show)
  }
  routes.get(PAGE_OF_API, (c, next) => {
    c.header('Vary', 'Accept')
    return isNavigation(c.env.incoming) ? show(c) : next()
  })
}
