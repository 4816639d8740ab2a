import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const FILE = fileURLToPath(new URL('../../../../shared/specs/twilio.json', import.meta.url))

type Operation = {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[]
  readonly requestBody?: {
    readonly content: Record<
      string,
      { readonly schema: { readonly properties?: object; readonly required?: readonly string[] } }
    >
  }
}

export type TelephonySpec = {
  /** Returns the violations of a request, or an empty list. */
  check(method: string, path: string, fields: URLSearchParams): string[]
}

/** The provider's official API description, or null if absent. */
export function loadTelephonySpec(): TelephonySpec | null {
  if (!existsSync(FILE)) return null
  const { paths } = JSON.parse(readFileSync(FILE, 'utf8')) as {
    paths: Record<string, Record<string, Operation>>
  }
  const patterns = Object.entries(paths).map(([path, operations]) => ({
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+?')}$`),
    operations,
  }))
  return {
    check(method, path, fields) {
      const operation = patterns.find(({ pattern }) => pattern.test(path))?.operations[method.toLowerCase()]
      if (!operation) return [`${method} ${path} does not exist`]
      const schema = operation.requestBody?.content['application/x-www-form-urlencoded']?.schema
      const inQuery = (operation.parameters ?? []).filter((each) => each.in === 'query')
      const allowed = new Set(
        method === 'GET' ? inQuery.map(({ name }) => name) : Object.keys(schema?.properties ?? {}),
      )
      const unknown = [...fields.keys()].filter((name) => !allowed.has(name))
      const missing = (schema?.required ?? []).filter((name) => !fields.has(name))
      return [
        ...unknown.map((name) => `${method} ${path} has no ${name}`),
        ...missing.map((name) => `${method} ${path} needs ${name}`),
      ]
    },
  }
}
