import { createRoute, z } from '@hono/zod-openapi'
import { htmlPage, json, meanings } from './describe.ts'
import { createRoutes, type Routes } from './env.ts'
import { PROBLEM_TYPE, type RefusalStatus } from './problem.ts'
import { type OpenApiDocument, operationsOf, referencePage, referenceStyles } from './reference-page.ts'

const problem = { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } }

/**
 * With what any route may answer besides what it declares: who asks is judged, and what they send is read, before it is
 * reached.
 */
function withCommonRefusals(document: OpenApiDocument): OpenApiDocument {
  const whole = structuredClone(document)
  for (const { method, operation } of operationsOf(whole)) {
    const statuses: RefusalStatus[] = method === 'get' ? [] : [400, 403, 413]
    if (operation.security?.length !== 0) statuses.push(401)
    const common = statuses.map((status) => [status, { description: meanings[status], content: problem }])
    const others = { description: 'Any other refusal', content: problem }
    operation.responses = { ...Object.fromEntries(common), default: others, ...operation.responses }
  }
  return whole
}

const description = createRoute({
  method: 'get',
  path: '/openapi.json',
  tags: ['Reference'],
  summary: 'This contract, for programs',
  responses: { 200: json(z.record(z.string(), z.unknown()), 'OpenAPI 3.1') },
})

const page = createRoute({
  method: 'get',
  path: '/docs',
  tags: ['Reference'],
  summary: 'This contract, for people',
  responses: { 200: htmlPage('The page') },
})

/**
 * The published contract: `/openapi.json`, made from the very schemas that the routes of `app` validate with, and
 * `/docs`, the same for people.
 */
export function createReference(app: Routes, version: string): Routes {
  let document: OpenApiDocument | undefined
  let published: OpenApiDocument | undefined
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
  const thePublished = () => {
    published ??= withCommonRefusals(theDocument())
    return published
  }
  for (const route of [description, page]) app.openAPIRegistry.registerPath(route)
  app.openAPIRegistry.registerComponent('securitySchemes', 'session', {
    type: 'apiKey',
    in: 'cookie',
    name: 'delegate_session',
  })

  const routes = createRoutes()
  routes.get('/openapi.json', (c) => c.json(thePublished()))
  routes.get('/docs', (c) => c.html(referencePage(theDocument())))
  routes.get('/docs.css', (c) => c.body(referenceStyles, 200, { 'content-type': 'text/css; charset=utf-8' }))
  return routes
}
