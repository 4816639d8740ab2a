import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { testDirectory } from '../support/directory.ts'
import { startWholeService, type WholeService, type WholeServiceOptions } from '../support/service.ts'

export const PASSPHRASE = 'seven grey herons'
export const DAY_MS = 86_400_000

/** A service with backups, and a clock that the test moves. */
export async function startBacking(
  options: WholeServiceOptions & { readonly target?: string; readonly clock?: { aheadMs: number } } = {},
) {
  const target = options.target ?? join(testDirectory(), 'backups')
  // Backups are kept by the day and made at 03:00: every test begins at noon.
  const clock = options.clock ?? { aheadMs: (1.5 * DAY_MS - (Date.now() % DAY_MS)) % DAY_MS }
  const service = await startWholeService({
    nowMs: () => Date.now() + clock.aheadMs,
    ...options,
    environment: { BACKUP_DIRECTORY: target, BACKUP_PASSPHRASE: PASSPHRASE, ...options.environment },
  })
  return {
    ...service,
    target,
    clock,
    /** Moves the clock and wakes what waits for it. */
    async pass(ms: number): Promise<void> {
      clock.aheadMs += ms
      // Any changed setting wakes the reactor; this one needs no recent proof.
      const entries = { SESSION_IDLE_MINUTES: 30 + (Math.round(clock.aheadMs / 1000) % 1000) }
      expect((await service.client.put('/api/config', { entries })).status).toBe(200)
    },
  }
}

export async function factsOf(
  { client }: Pick<WholeService, 'client'>,
  type: string,
): Promise<Record<string, unknown>[]> {
  const { events } = (await client.get('/api/timeline?limit=5000')).json
  return events
    .filter((event: { type: string }) => event.type === type)
    .map(({ payload }: { payload: unknown }) => payload)
}

/** Resolves once there are `count` facts of a type. */
export async function untilFacts(service: Pick<WholeService, 'client'>, type: string, count = 1) {
  await expect.poll(async () => (await factsOf(service, type)).length).toBeGreaterThanOrEqual(count)
  return factsOf(service, type)
}

export const backupsOf = async ({ client }: Pick<WholeService, 'client'>) =>
  (await client.get('/api/backups')).json

export const filesIn = (directory: string) => readdirSync(directory).sort()
