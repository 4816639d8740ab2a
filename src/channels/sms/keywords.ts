export type Keyword = 'opt_out' | 'opt_in' | 'help'

/** The provider's own keywords: it answers them itself, and they count as the whole message only. */
const OPT_OUT = new Set(['STOP', 'STOPALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT', 'REVOKE', 'OPTOUT'])
const OPT_IN = new Set(['START', 'UNSTOP'])
const HELP = new Set(['HELP', 'INFO'])

/**
 * What a text means to the provider rather than to the delegate; null for anything else. `YES` opts in only who
 * has opted out: from anybody else it is an answer. `optOutType` is what the provider itself made of it.
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
