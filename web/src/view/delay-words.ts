const reasons: Readonly<Record<string, string>> = {
  unavailable: 'the provider does not answer',
  rate_limited: 'the provider limits how many may be sent',
  credentials: 'the provider refuses the credentials',
  budget: 'no more may be sent today',
}

/** Why text messages wait. */
export const delayText = (kind: string): string => reasons[kind] ?? 'they cannot be sent'
