import type { RouteModule } from '../app.ts'
import { createRoutes } from '../env.ts'
import { Refusal } from '../problem.ts'
import { SHELL_FILE, type StaticFiles, serveFile } from '../static-files.ts'

/** The pages of the web app, which finds its way by the path. Exact; a new page is added here too. */
const PAGES = [
  '/',
  '/install',
  '/install.html',
  '/login',
  '/notes',
  '/notes/edit',
  '/memories',
  '/adaptations',
  '/tasks',
  '/timers',
  '/operations',
  '/settings',
  '/logs',
  '/logs.html',
] as const

/** Answers each page's address with the web app. */
export function pageRoutes(staticFiles: StaticFiles): RouteModule {
  const routes = createRoutes()
  const shell = staticFiles.get(SHELL_FILE)
  for (const page of PAGES) {
    routes.get(page, (c) => {
      if (!shell) throw new Refusal(503, 'not_built', 'The web app is not built. Run "npm run build:web".')
      return serveFile(c, shell)
    })
  }
  return { routes }
}
