import { isObject } from './json.ts'

/** An RFC 9457 problem document, the body of every error response. */
export type Problem = {
  readonly status: number
  readonly code: string
  readonly title: string
  readonly detail: string
  readonly errors: readonly { readonly path: string; readonly message: string }[]
}

/** Never throws. Builds a problem from any other body too, such as a proxy's error page. */
export function parseProblem(value: unknown, status: number): Problem {
  const object = isObject(value) ? value : {}
  const text = (field: string, otherwise: string) => {
    const found = object[field]
    return typeof found === 'string' && found !== '' ? found : otherwise
  }
  const title = text('title', `The service answered with status ${status}`)
  const errors = Array.isArray(object.errors) ? object.errors : []
  return {
    status: typeof object.status === 'number' ? object.status : status,
    code: text('code', 'unknown'),
    title,
    detail: text('detail', title),
    errors: errors.flatMap((error: unknown) =>
      isObject(error) && typeof error.message === 'string'
        ? [{ path: pathText(error.path), message: error.message }]
        : [],
    ),
  }
}

function pathText(path: unknown): string {
  if (Array.isArray(path)) return path.map(String).join('.')
  return typeof path === 'string' ? path.replace(/^[/$.]+/, '') : ''
}
