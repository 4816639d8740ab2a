import { createRoutes, type Routes } from './env.ts'
import { PROBLEM_TYPE } from './problem.ts'
import { type OpenApiDocument, referencePage, referenceStyles } from './reference-page.ts'

/**
 * The published contract: `/openapi.json`, made from the very schemas that the routes of `app` validate with, and
 * `/docs`, the same for people.
 */
export function createReference(app: Routes, version: string): Routes {
  let document: OpenApiDocument | undefined
  const theDocument = () => {
    document ??= app.getOpenAPI31Document({
      openapi: '3.1.0',
      info: {
        title: 'Delegate',
        version,
        description:
          'The HTTP contract of a self-hosted personal assistant. JSON with camelCase fields, times in ISO 8601 ' +
          `UTC, refusals as problem documents (${PROBLEM_TYPE}).`,
      },
      servers: [{ url: '/' }],
      security: [{ session: [] }],
    })
    return document
  }
  app.openAPIRegistry.registerComponent('securitySchemes', 'session', {
    type: 'apiKey',
    in: 'cookie',
    name: 'delegate_session',
  })

  const routes = createRoutes()
  routes.get('/openapi.json', (c) => c.json(theDocument()))
  routes.get('/docs', (c) => c.html(referencePage(theDocument())))
  routes.get('/docs.css', (c) => c.body(referenceStyles, 200, { 'content-type': 'text/css; charset=utf-8' }))
  return routes
}
