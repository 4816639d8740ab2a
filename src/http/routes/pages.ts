import { isNavigation } from '../access.ts'
import type { RouteModule } from '../app.ts'
import { createRoutes, type HttpContext } from '../env.ts'
import { Refusal } from '../problem.ts'
import { SHELL_FILE, type StaticFiles, serveFile } from '../static-files.ts'

/** The pages of the web app, which finds its way by the path. Exact; a new page is added here too. */
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
  '/settings/memory',
  '/logs',
  '/logs.html',
] as const

/** Addresses of data that are pages too, for a person who follows a link there. */
const PAGES_OF_DATA = ['/memory-config'] as const

/** Answers each page's address with the web app. */
export function pageRoutes(staticFiles: StaticFiles): RouteModule {
  const routes = createRoutes()
  const shell = staticFiles.get(SHELL_FILE)
  const show = (c: HttpContext) => {
    if (!shell) throw new Refusal(503, 'not_built', 'The web app is not built. Run "npm run build:web".')
    return serveFile(c, shell)
  }
  for (const page of PAGES) routes.get(page, show)
  for (const page of PAGES_OF_DATA) {
    routes.get(page, (c, next) => {
      c.header('Vary', 'Accept')
      return isNavigation(c.env.incoming) ? show(c) : next()
    })
  }
  return { routes }
}
