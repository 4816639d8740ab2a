import { msg } from '../../language/msg.ts'
import { forgetMissing, list, request } from '../contract/backups.ts'
import type { RouteDeps } from '../features.ts'
import type { Routes } from '../server/env.ts'
import { conflict } from '../server/problem.ts'

/** The backups that the service makes by itself. */
export function backupRoutes(routes: Routes, { backups }: RouteDeps): void {
  routes.openapi(list, async (c) => c.json(await backups.list(), 200))

  routes.openapi(request, async (c) => {
    if (!(await backups.request()))
      throw conflict('backups_off', msg`Backups are off. Choose a directory and a passphrase first.`)
    return c.json(await backups.list(), 202)
  })

  routes.openapi(forgetMissing, async (c) => {
    if (!(await backups.forgetMissing()))
      throw conflict(
        'newest_missing',
        msg`The newest backup is missing, too. Connect the disk of the backup directory, or make a backup first.`,
      )
    return c.json(await backups.list(), 200)
  })
}
