import type { Setting } from '../../../src/http/contract/settings.ts'
import { Refused } from './http.ts'
import type { Http } from './routes.ts'

/** Asks the owner for their password. `error` describes the last attempt. Null if they cancel. */
export type AskPassword = (question: string, error?: string) => Promise<string | null>

/**
 * Changes all settings or none. Throws Refused with a path `entries.KEY` for each invalid one. If the service
 * requires the password, asks until it is correct, or throws Refused (`password_required`) on cancel.
 */
export async function changeSettings(
  http: Http,
  entries: Readonly<Record<string, string>>,
  askPassword: AskPassword,
): Promise<readonly Setting[]> {
  let question = ''
  let password: string | null = null
  for (;;) {
    try {
      const body = { entries, ...(password === null ? {} : { password }) }
      return (await http.put('/api/config', { body })).entries
    } catch (error) {
      const problem = error instanceof Refused ? error.problem : null
      const isWrong = problem?.code === 'wrong_password'
      if (!isWrong && problem?.code !== 'password_required') throw error
      if (!isWrong) question = problem.detail
      password = await askPassword(question, isWrong ? 'That is not your password.' : undefined)
      if (password === null) throw error
    }
  }
}
