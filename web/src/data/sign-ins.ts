import type { Http } from './http.ts'
import { arrayField, asObject, booleanField, stringField } from './json.ts'

/** A browser, or another client, that is signed in. */
export type SignIn = {
  readonly id: string
  /** This browser's own. */
  readonly current: boolean
  readonly createdAt: string
  readonly lastSeenAt: string
  readonly userAgent: string
}

/** Last seen first. */
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

/** Signs it out; its open connections end. */
export async function revokeSignIn(http: Http, id: string): Promise<void> {
  await http('DELETE', `/api/sessions/${encodeURIComponent(id)}`)
}

/** Every other session ends. */
export async function changePassword(
  http: Http,
  passwords: { readonly currentPassword: string; readonly newPassword: string },
): Promise<void> {
  await http('POST', '/api/auth/password', { body: passwords })
}
