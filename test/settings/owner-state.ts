import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Append } from '../../ledger/event.ts'
import { createIds } from '../../ledger/ids.ts'
import { openOwnerState } from '../../src/settings/index.ts'
import { parseSetting, type SettingKey } from '../../src/settings/registry.ts'
import { openStorage } from '../../src/storage/storage.ts'

export const PASSWORD = 'a long walk by the river'

/** The owner's state on the real storage, in a directory that outlives it; closes with the test. */
export async function openState(
  options: {
    readonly directory?: string
    readonly environment?: Partial<Record<SettingKey, string>>
    /** Wraps the append between the state and the ledger. */
    readonly around?: (append: Append) => Append
    /** Overrides which facts the state sees; by default the real ones. */
    readonly hasFact?: (key: string) => boolean
  } = {},
) {
  const directory = options.directory ?? newDirectory()
  const newId = createIds(Date.now)
  const warnings: { message: string; fields: Record<string, unknown> }[] = []
  const onWarning = (message: string, fields: Record<string, unknown>) =>
    void warnings.push({ message, fields })
  const storage = await openStorage({
    directory,
    nowMs: Date.now,
    newId,
    onWarning,
    onFatal: (error) => {
      throw error
    },
  })
  const environment = new Map(
    Object.entries(options.environment ?? {}).flatMap(([key, text]) => {
      const parsed = parseSetting(key as SettingKey, text)
      return parsed.ok ? [[key as SettingKey, parsed.value] as const] : []
    }),
  )
  const open = () =>
    openOwnerState({
      directory,
      environment,
      append: options.around?.(storage.append) ?? storage.append,
      hasFact: options.hasFact ?? ((key) => storage.ledger.rowByKey(key) !== undefined),
      nowMs: Date.now,
      newId,
      onWarning,
    })
  let isOpen = true
  onTestFinished(() => close())
  async function close(): Promise<void> {
    if (!isOpen) return
    isOpen = false
    state?.close()
    await storage.close()
  }
  let state: ReturnType<typeof open> | undefined
  try {
    state = open()
  } catch (error) {
    await close()
    throw error
  }
  return {
    ...state,
    directory,
    warnings,
    storage,
    /** Simulates a crash: nothing more is written. */
    close,
    facts: () => storage.ledger.readAfter(0, 1_000),
    install: (password = PASSWORD, settings: Record<string, unknown> = {}) =>
      state.account.install({ password, settings, userAgent: '', setupCode: state.setupCode }),
    signIn: (password = PASSWORD) =>
      state.account.signIn({ password, userAgent: '', former: null }, { ...UNLIMITED }),
  }
}

export const UNLIMITED = { mayTry: () => true, failed: () => undefined, succeeded: () => undefined }

export function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'delegate-settings-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}
