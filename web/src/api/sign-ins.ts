import type { Http } from './http.ts'
import { arrayField, asObject, booleanField, stringField } from './json.ts'

/** A signed-in browser or other client. */
export type SignIn = {
  readonly id: string
  /** True for this browser's own session. */
  readonly current: boolean
  readonly createdAt: string
  readonly lastSeenAt: string
  readonly userAgent: string
}

/** Most recently seen first. */
export async function fetchSignIns(http: Http): Promise<readonly SignIn[]> {
  const answer = asObject(await http('GET', '/api/sessions'), 'sessions')
  return arrayField(answer, 'sessions', (item) => {
    const session = asObject(item, 'session')
    return {
      id: stringField(session, 'id'),
      current: booleanField(session, 'current'),
      createdAt: stringField(session, 'createdAt'),
      lastSeenAt: stringField(session, 'lastSeenAt'),
      userAgent: stringField(session, 'userAgent'),
    }
  })
}

/** Signs the client out and closes its connections. */
export async function revokeSignIn(http: Http, id: string): Promise<void> {
  await http('DELETE', `/api/sessions/${encodeURIComponent(id)}`)
}

/** Also ends every other session. */
export async function changePassword(
  http: Http,
  passwords: { readonly currentPassword: string; readonly newPassword: string },
): Promise<void> {
  await http('POST', '/api/auth/password', { body: passwords })
}
