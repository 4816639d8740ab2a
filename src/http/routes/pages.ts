import type { RouteModule } from '../app.ts'
import { createRoutes } from '../env.ts'
import { Refusal } from '../problem.ts'
import { type StaticFiles, serveFile } from '../static-files.ts'

/** The pages of the web app, which finds its way by the path. Exact. */
const PAGES = [
  '/',
  '/install',
  '/install.html',
  '/login',
  '/timeline',
  '/conversations',
  '/notes',
  '/memories',
  '/adaptations',
  '/tasks',
  '/timers',
  '/operations',
  '/settings',
  '/sessions',
  '/logs.html',
] as const

export const SHELL_FILE = '/index.html'

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
