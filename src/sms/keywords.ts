export type Keyword = 'opt_out' | 'opt_in' | 'help'

/** Keywords that the provider answers itself. They count only as the whole message. */
const OPT_OUT = new Set(['STOP', 'STOPALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT', 'REVOKE', 'OPTOUT'])
const OPT_IN = new Set(['START', 'UNSTOP'])
const HELP = new Set(['HELP', 'INFO'])

/**
 * The provider keyword that a text consists of, or null. `YES` counts only from a number that has opted out.
 * `optOutType` is the provider's own verdict and takes precedence.
 */
export function keywordOf(text: string, isOptedOut: boolean, optOutType = ''): Keyword | null {
  if (optOutType === 'STOP') return 'opt_out'
  if (optOutType === 'START') return 'opt_in'
  if (optOutType === 'HELP') return 'help'
  const word = text.trim().toUpperCase()
  if (OPT_OUT.has(word)) return 'opt_out'
  if (OPT_IN.has(word) || (word === 'YES' && isOptedOut)) return 'opt_in'
  return HELP.has(word) ? 'help' : null
}
