import { readFileSync, rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Append } from '../../ledger/event.ts'
import { ledgerFile, viewsFile } from '../../ledger/files.ts'
import { headFile } from '../../ledger/witness.ts'
import { settingsFile } from '../../src/settings/store.ts'
import { openState, PASSWORD, UNLIMITED } from './owner-state.ts'

const failing: Append = async () => {
  throw new Error('the disk is full')
}

test('can still be installed, with another password, after a crash before the fact', async () => {
  const before = await openState({ around: () => failing })
  await expect(before.install()).rejects.toThrow('the disk is full')
  expect(before.account.isInstalled()).toBe(false)
  await before.close()

  const after = await openState({ directory: before.directory })
  expect(after.account.isInstalled()).toBe(false)
  expect(readFileSync(settingsFile(after.directory), 'latin1')).not.toContain('argon2id')
  expect((await after.signIn()).status).toBe('wrong_password')
  expect((await after.install('quite another password')).status).toBe('installed')
  expect((await after.signIn()).status).toBe('wrong_password')
  expect((await after.signIn('quite another password')).status).toBe('signed_in')
})

test('is installed with password, settings and session after a crash right after the fact', async () => {
  // The fact is durable, but nothing after it runs.
  const appended = Promise.withResolvers<void>()
  const before = await openState({
    around: (append) => async (events) => {
      await append(events)
      appended.resolve()
      return new Promise(() => undefined)
    },
  })
  void before.install(PASSWORD, { TIMEZONE: 'Europe/Berlin', OPENAI_API_KEY: 'sk-something' })
  await appended.promise
  await before.close()

  const after = await openState({ directory: before.directory })
  expect(after.account.isInstalled()).toBe(true)
  expect((await after.signIn()).status).toBe('signed_in')
  expect(after.settings.get('TIMEZONE')).toBe('Europe/Berlin')
  expect(after.settings.get('OPENAI_API_KEY')).toBe('sk-something')
  expect(after.sessions.list()).toHaveLength(2)
  expect((await after.install('quite another password')).status).toBe('already_installed')
})

/** A state in which the fact of a type is durable, but nothing after it runs. */
async function openCutOffAfter(type: string) {
  const appended = Promise.withResolvers<void>()
  const state = await openState({
    around: (append) => async (events) => {
      const result = await append(events)
      if (events[0]?.type !== type) return result
      appended.resolve()
      return new Promise(() => undefined)
    },
  })
  await state.install()
  const [session] = state.sessions.list()
  if (!session) throw new Error('no session')
  await state.signIn()
  return { ...state, session, appended: appended.promise }
}

test('has the new password and no other sessions after a crash right after its fact', async () => {
  const before = await openCutOffAfter('owner.password.changed')
  const change = { current: PASSWORD, next: 'quite another password' }
  void before.account.changePassword(before.session, change, UNLIMITED)
  await before.appended
  await before.close()

  const after = await openState({ directory: before.directory })
  expect(after.sessions.list().map(({ id }) => id)).toEqual([before.session.id])
  expect((await after.signIn()).status).toBe('wrong_password')
  expect((await after.signIn('quite another password')).status).toBe('signed_in')
  expect(after.facts().filter(({ type }) => type === 'owner.password.changed')).toHaveLength(1)
})

test("keeps the old password and every session after a crash before the new one's fact", async () => {
  const before = await openState({
    around: (append) => (events) =>
      events[0]?.type === 'owner.password.changed' ? failing(events) : append(events),
  })
  await before.install()
  await expect(before.account.resetPassword('quite another password')).rejects.toThrow('the disk is full')
  await before.close()

  const after = await openState({ directory: before.directory })
  expect(after.sessions.list()).toHaveLength(1)
  expect((await after.signIn('quite another password')).status).toBe('wrong_password')
  expect((await after.signIn()).status).toBe('signed_in')
})

test.each(['owner.signed-out', 'owner.session.revoked'])(
  'keeps a session ended after a crash right after its fact (%s)',
  async (type) => {
    const before = await openCutOffAfter(type)
    const { account, session } = before
    void (type === 'owner.signed-out' ? account.signOut(session) : account.revoke(session.id))
    await before.appended
    await before.close()

    const after = await openState({ directory: before.directory })
    expect(after.sessions.list()).toHaveLength(1)
    expect(after.sessions.list()).not.toContainEqual(expect.objectContaining({ id: session.id }))
  },
)

test('keeps a replaced session ended after a crash right after the fact of the sign-in', async () => {
  const before = await openCutOffAfter('owner.signed-out')
  const attempt = { password: PASSWORD, userAgent: 'the same browser', former: before.session }
  void before.account.signIn(attempt, UNLIMITED)
  await before.appended
  await before.close()

  const after = await openState({ directory: before.directory })
  expect(after.sessions.list()).not.toContainEqual(expect.objectContaining({ id: before.session.id }))
})

test('lets the ledger decide who installed first, whatever the state says', async () => {
  const winner = await openState()
  await winner.install()
  const facts = winner.facts().length
  await winner.close()

  const blind = await openState({ directory: winner.directory, hasFact: () => false })
  expect((await blind.install('quite another password')).status).toBe('already_installed')
  expect(blind.facts()).toHaveLength(facts)
  expect(blind.sessions.list()).toHaveLength(1)
  await blind.close()
  const after = await openState({ directory: winner.directory })
  expect((await after.signIn('quite another password')).status).toBe('wrong_password')
  expect((await after.signIn()).status).toBe('signed_in')
})

test('can be installed again despite settings of an earlier ledger', async () => {
  const former = await openState()
  await former.install()
  await former.close()
  for (const file of [ledgerFile(former.directory), viewsFile(former.directory)]) {
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true })
  }
  rmSync(headFile(former.directory))
  const reinstalled = await openState({ directory: former.directory })
  expect(reinstalled.account.isInstalled()).toBe(false)
  expect((await reinstalled.install('quite another password')).status).toBe('installed')
  expect((await reinstalled.signIn()).status).toBe('wrong_password')
  expect(reinstalled.sessions.list()).toHaveLength(1)
})

test('says how to get in again if its settings were lost, and the shell can', async () => {
  const before = await openState()
  await before.install()
  await before.close()
  rmSync(`${before.directory}/settings.sqlite`)

  const after = await openState({ directory: before.directory })
  expect(after.account.isInstalled()).toBe(true)
  expect(after.warnings.map(({ message }) => message).join()).toContain('owner:reset-password')
  expect((await after.install()).status).toBe('already_installed')
  expect((await after.signIn()).status).toBe('wrong_password')
  expect(await after.account.resetPassword('quite another password')).toBe('changed')
  expect((await after.signIn('quite another password')).status).toBe('signed_in')
})

test('ends every session on a password reset from the shell, and records it', async () => {
  const state = await openState()
  await state.install()
  const ended: string[] = []
  for (const { id } of state.sessions.list()) state.sessions.onEnded(id, () => ended.push(id))
  expect(await state.account.resetPassword('quite another password')).toBe('changed')
  expect(ended).toHaveLength(1)
  expect(state.sessions.list()).toEqual([])
  expect(state.facts().slice(-2)).toMatchObject([
    { type: 'owner.password.changed', facts: { by: 'shell' } },
    { type: 'owner.session.revoked', facts: { by: 'shell', sessionId: ended[0] } },
  ])
  expect(await state.account.resetPassword('password1234')).toBe('common_password')
})

test('has no password to reset before installation', async () => {
  const state = await openState()
  expect(await state.account.resetPassword(PASSWORD)).toBe('not_installed')
})

test('rejects a sign-in with the old password that overlaps a password change', async () => {
  const release = Promise.withResolvers<void>()
  const isHeld = Promise.withResolvers<void>()
  const state = await openState({
    around: (append) => async (events) => {
      if (events[0]?.type === 'owner.password.changed') {
        isHeld.resolve()
        await release.promise
      }
      return append(events)
    },
  })
  await state.install()
  const reset = state.account.resetPassword('quite another password')
  await isHeld.promise
  const signIn = state.signIn()
  release.resolve()
  await reset
  expect((await signIn).status).toBe('wrong_password')
  expect(state.sessions.list()).toEqual([])
})

test('signs nobody in if the fact cannot be recorded', async () => {
  let isDown = false
  const state = await openState({
    around: (append) => (events) => (isDown ? failing(events) : append(events)),
  })
  await state.install()
  isDown = true
  await expect(state.signIn()).rejects.toThrow('the disk is full')
  expect(state.sessions.list()).toHaveLength(1)
  const [session] = state.sessions.list()
  if (!session) throw new Error('no session')
  await expect(state.account.signOut(session)).rejects.toThrow('the disk is full')
  const change = { current: PASSWORD, next: 'quite another password' }
  await expect(state.account.changePassword(session, change, UNLIMITED)).rejects.toThrow('the disk is full')
  isDown = false
  expect((await state.signIn()).status).toBe('signed_in')
})
