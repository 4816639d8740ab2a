import type { Setting } from '../../../src/http/contract/settings.ts'
import { Refused } from '../api/http.ts'
import type { AppElement } from '../app/app-element.ts'
import { askForPassword } from '../app/password-dialog.ts'
import { msg } from '../design/msg.ts'

/**
 * Changes all settings or none; null resets one. Throws Refused with a path `entries.KEY` for each invalid one. If the
 * service requires the password, asks for it, or throws Refused (`password_required`) on cancel.
 */
export async function changeSettings(
  host: AppElement,
  entries: Readonly<Record<string, string | null>>,
): Promise<readonly Setting[]> {
  const { http } = host.app
  try {
    return (await http.put('/api/config', { body: { entries } })).entries
  } catch (error) {
    if (!(error instanceof Refused) || error.problem.code !== 'password_required') throw error
    let changed: readonly Setting[] = []
    const isChanged = await askForPassword(host, {
      heading: msg`Enter your password`,
      text: error.message,
      action: [msg`Save`, msg`Saving…`],
      run: async (password) => {
        changed = (await http.put('/api/config', { body: { entries, password } })).entries
      },
    })
    if (!isChanged) throw error
    return changed
  }
}
