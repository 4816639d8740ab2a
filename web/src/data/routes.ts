import type { Http } from './http.ts'
import { asObject } from './json.ts'

/** The paths that the service has, as its own description tells them. */
export async function fetchRoutes(http: Http): Promise<ReadonlySet<string>> {
  const description = asObject(await http('GET', '/openapi.json'), 'description')
  return new Set(Object.keys(asObject(description.paths, 'paths')))
}
