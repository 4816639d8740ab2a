import { localeNow, msg } from '../../language/msg.ts'
import type { Settings } from '../../settings/settings.ts'
import { accountOf, openToOthers, ownedByOthers } from '../../storage/modes.ts'
import type { DailyLimits } from '../budgets.ts'
import { type Finding, ok, problem, warning } from './check.ts'
import { isPrivate } from './network.ts'

type Values = Pick<Settings, 'get' | 'webhookToken'>

/** How the programs of tasks are isolated; null if there is no coding assistant. */
export type TaskIsolation = {
  readonly way: string | null
  readonly reason: string | null
  readonly remedy: string | null
} | null

export function signInFinding(factors: readonly ('totp' | 'passkey')[], lacksPassword: boolean): Finding {
  if (lacksPassword)
    return problem(
      msg`There is no password, so nobody can sign in.`,
      msg`Put back settings.sqlite from a backup, or stop Delegate and run npm run owner:reset-password.`,
    )
  if (factors.includes('totp')) return ok(msg`Signing in by password also takes a code.`)
  const remedy = msg`Add an authenticator app under Settings → Sign-in.`
  return factors.includes('passkey')
    ? warning(msg`You have a passkey, but the password alone still signs in.`, remedy)
    : warning(msg`Only a password protects sign-in.`, remedy)
}

export function filesFinding(directory: string): Finding {
  const foreign = ownedByOthers(directory)
  if (foreign.length > 0)
    return problem(
      msg`Another account owns ${foreign.join(', ')}, so Delegate may be unable to open it.`,
      msg`Stop Delegate and run as root: chown -R ${accountOf(directory)} ${directory}`,
    )
  const open = openToOthers(directory)
  return open.length === 0
    ? ok(msg`Only the account of Delegate can read its data and its key.`)
    : problem(
        msg`Other accounts of this machine can read ${open.join(', ')}.`,
        msg`Run: chmod -R go= ${directory}`,
      )
}

/** The provider's webhooks. */
export function webhooksFinding(settings: Values): Finding {
  if (settings.get('TELEPHONY_PHONE_NUMBER') === null && settings.get('TELEPHONY_ACCOUNT_SID') === null)
    return ok(msg`No phone is set up.`)
  if (settings.webhookToken() === null)
    return problem(
      msg`A phone is set up without an auth token, so nothing tells the provider from a stranger.`,
      msg`Enter the auth token under Settings, Telephony.`,
    )
  return settings.get('PUBLIC_URL') === null
    ? warning(msg`Without PUBLIC_URL, no signature of the provider can be verified.`, msg`Set PUBLIC_URL.`)
    : ok(msg`Calls and texts count only with the signature of the provider.`)
}

/** The owner's webhook for outcomes. Never shows its address, which may hold a token. */
export function deliveryFinding(settings: Values): Finding {
  const url = settings.get('DELIVERY_WEBHOOK_URL')
  if (url === null) return ok(msg`No webhook is set up.`)
  if (!isPrivate(url))
    return problem(
      msg`Outcomes are posted without https.`,
      msg`Set DELIVERY_WEBHOOK_URL to an https address.`,
    )
  return settings.get('DELIVERY_WEBHOOK_SECRET') === null
    ? warning(msg`The webhook has no secret, so nothing is posted.`, msg`Set DELIVERY_WEBHOOK_SECRET.`)
    : ok(msg`Outcomes are posted by https, with a signature.`)
}

export function budgetsFinding({ tokens, texts, calls }: DailyLimits): Finding {
  const all = { DAILY_TOKENS: tokens, DAILY_TEXTS: texts, DAILY_CALLS: calls }
  const unlimited = Object.entries(all).flatMap(([name, limit]) => (limit === null ? [name] : []))
  return unlimited.length === 0
    ? ok(
        msg`At most ${tokens?.toLocaleString(localeNow())} tokens, ${texts} texts and ${calls} calls in 24 hours.`,
      )
    : warning(
        msg`Nothing bounds the bill of a stolen session or a loop: ${unlimited.join(', ')} is unlimited.`,
        msg`Set a number in the environment.`,
      )
}

export function guestsFinding(settings: Values, { texts }: DailyLimits): Finding {
  const guests = settings.get('GUEST_DAILY_MESSAGES')
  return texts !== null && guests >= texts
    ? warning(
        msg`Strangers may use up all texts of a day: GUEST_DAILY_MESSAGES is ${guests}, DAILY_TEXTS is ${texts}.`,
        msg`Lower GUEST_DAILY_MESSAGES.`,
      )
    : ok(msg`Strangers get at most ${guests} texts and calls in 24 hours.`)
}

export function tasksFinding(isolation: TaskIsolation): Finding {
  if (isolation === null) return ok(msg`No coding assistant is set up.`)
  const { way, reason, remedy } = isolation
  if (way === null) return warning(msg`Tasks cannot start. ${reason}`, remedy ?? '')
  if (way === 'none')
    return problem(msg`The program of a task can read Delegate’s data and keys. ${reason}`, remedy ?? '')
  const by = way === 'user' ? msg`run in an account of their own` : msg`are isolated by ${way}`
  return ok(msg`Programs of tasks ${by}.`)
}

export function developmentFinding(switches: {
  readonly devRoutes: boolean
  readonly ledgerDebug: boolean
  readonly itemsDebug: boolean
}): Finding {
  if (switches.devRoutes)
    return problem(msg`Routes for developers are open.`, msg`Remove DEV_ROUTES from the environment.`)
  const names = { LEDGER_DEBUG: switches.ledgerDebug, ITEMS_DEBUG: switches.itemsDebug }
  const on = Object.entries(names).flatMap(([name, isOn]) => (isOn ? [name] : []))
  return on.length === 0
    ? ok(msg`No switch for developers is on.`)
    : warning(
        msg`The log traces your activity: ${on.join(', ')}.`,
        msg`Remove it from the environment when done.`,
      )
}
