import { z } from '@hono/zod-openapi'
import { answer, htmlPage, meanings, tagged } from '../contract/describe.ts'
import { PROBLEM_TYPE, type RefusalStatus } from '../contract/problem.ts'
import type { Routes } from './env.ts'
import { type OpenApiDocument, operationsOf, referencePage, referenceStyles } from './reference-page.ts'

const { get } = tagged('Reference')

const problem = { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } }

/**
 * Adds the refusals that any route may return before its own code runs, from access control and body checks.
 */
function withCommonRefusals(document: OpenApiDocument): OpenApiDocument {
  const copy = structuredClone(document)
  for (const { method, operation } of operationsOf(copy)) {
    const statuses: RefusalStatus[] = method === 'get' ? [] : [400, 403, 413]
    if (operation.security?.length !== 0) statuses.push(401)
    const common = statuses.map((status) => [status, { description: meanings[status], content: problem }])
    const others = { description: 'Any other error', content: problem }
    operation.responses = { ...Object.fromEntries(common), default: others, ...operation.responses }
  }
  return copy
}

const description = get('/openapi.json', {
  summary: 'Get this API as an OpenAPI document',
  responses: answer(z.record(z.string(), z.unknown()), 'OpenAPI 3.1'),
})

const page = get('/docs', {
  summary: 'Read this API reference as a page',
  responses: { 200: htmlPage('The page') },
})

/** `/openapi.json`, generated from the schemas that `app` validates with, and `/docs`, the same as a page. */
export function addReference(app: Routes, version: string): void {
  let document: OpenApiDocument | undefined
  let published: OpenApiDocument | undefined
  const getDocument = () => {
    document ??= app.getOpenAPI31Document({
      openapi: '3.1.0',
      info: {
        title: 'Delegate',
        version,
        description:
          'The HTTP API of a self-hosted personal assistant. JSON with camelCase fields, times in ISO 8601 ' +
          `UTC, errors as problem documents (${PROBLEM_TYPE}).`,
      },
      servers: [{ url: '/' }],
      security: [{ session: [] }],
    })
    return document
  }
  for (const route of [description, page]) app.openAPIRegistry.registerPath(route)
  app.openAPIRegistry.registerComponent('securitySchemes', 'session', {
    type: 'apiKey',
    in: 'cookie',
    name: 'delegate_session',
  })

  app.get('/openapi.json', (c) => {
    published ??= withCommonRefusals(getDocument())
    return c.json(published)
  })
  app.get('/docs', (c) => c.html(referencePage(getDocument())))
  app.get('/docs.css', (c) => c.body(referenceStyles, 200, { 'content-type': 'text/css; charset=utf-8' }))
}
