import type { Database, Statement } from 'better-sqlite3'
import { isDamage } from '../../ledger/errors.ts'

/** Tells of each statement, of those that are prepared from now on, that finds the database damaged. It throws all the same. */
export function watchForDamage(db: Database, onDamage: (error: unknown) => void): void {
  function watched<P extends unknown[], R>(read: (...parameters: P) => R): (...parameters: P) => R {
    return (...parameters) => {
      try {
        return read(...parameters)
      } catch (error) {
        if (isDamage(error)) onDamage(error)
        throw error
      }
    }
  }

  const prepare = db.prepare
  db.prepare = ((sql: string): Statement => {
    const statement: Statement = prepare.call(db, sql)
    const get = watched(statement.get.bind(statement))
    const all = watched(statement.all.bind(statement))
    return Object.assign(statement, { get, all })
  }) as typeof db.prepare
}
