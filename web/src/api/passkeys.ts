import { msg } from '../design/msg.ts'
import { Explained } from './explained.ts'
import type { Http } from './routes.ts'

const reasons: Readonly<Record<string, string>> = {
  NotAllowedError: msg`No passkey was used: the request was cancelled or timed out.`,
  InvalidStateError: msg`This device already has a passkey for Delegate.`,
  NotSupportedError: msg`This device cannot make a passkey that Delegate accepts.`,
  ConstraintError: msg`This device cannot make a passkey that Delegate accepts.`,
}

/** Whether the browser knows passkeys, which it offers only on https and localhost. */
export const hasPasskeys = (): boolean => 'PublicKeyCredential' in globalThis

/** Runs a dialog of the browser. Throws Explained. */
async function ask<T>(dialog: (library: typeof import('@simplewebauthn/browser')) => Promise<T>): Promise<T> {
  try {
    return await dialog(await import('@simplewebauthn/browser'))
  } catch (cause) {
    const name = cause instanceof Error ? cause.name : ''
    throw new Explained(reasons[name] ?? msg`The browser could not use a passkey.`, { cause })
  }
}

/** Whether a passkey may sign in on this page. */
export async function canUsePasskey(http: Http): Promise<boolean> {
  return hasPasskeys() && (await http.post('/login/passkey/options')).options !== null
}

/** Lets the owner use a passkey. */
async function usePasskey(http: Http) {
  const { options } = await http.post('/login/passkey/options')
  if (options === null) throw new Explained(msg`There is no passkey for this address.`)
  return ask(({ startAuthentication }) => startAuthentication({ optionsJSON: options }))
}

export async function signInWithPasskey(http: Http): Promise<void> {
  const response = await usePasskey(http)
  await http.post('/login/passkey', { body: { response } })
}

/** Proves who is there. */
export async function proveWithPasskey(http: Http): Promise<void> {
  const passkey = await usePasskey(http)
  await http.post('/api/auth/step-up', { body: { passkey } })
}

export async function addPasskey(http: Http, name: string): Promise<void> {
  const { options } = await http.post('/api/auth/passkeys/options')
  const response = await ask(({ startRegistration }) => startRegistration({ optionsJSON: options }))
  await http.post('/api/auth/passkeys', { body: { name, response } })
}
