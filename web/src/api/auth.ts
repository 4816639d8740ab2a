import type { Http } from './http.ts'
import { asObject, booleanField } from './json.ts'

export type AuthStatus = { readonly configured: boolean; readonly authenticated: boolean }

export type Installation = {
  readonly password: string
  readonly timezone?: string
  readonly publicUrl?: string
  readonly ownerPhoneNumber?: string
  readonly openaiApiKey?: string
  readonly openaiBaseUrl?: string
  /** The one-time code that the service prints when it starts. */
  readonly setupCode: string
}

export const minPasswordLength = 12

export async function fetchAuthStatus(http: Http, signal?: AbortSignal): Promise<AuthStatus> {
  const answer = asObject(await http('GET', '/auth/status', signal ? { signal } : {}), 'sign-in state')
  return {
    configured: booleanField(answer, 'configured'),
    authenticated: booleanField(answer, 'authenticated'),
  }
}

export async function install(http: Http, installation: Installation): Promise<void> {
  await http('POST', '/api/install', { body: installation })
}

export async function signIn(http: Http, password: string): Promise<void> {
  await http('POST', '/login', { body: { password } })
}

export async function signOut(http: Http): Promise<void> {
  await http('POST', '/logout')
}
