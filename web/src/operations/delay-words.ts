const reasons: Readonly<Record<string, string>> = {
  unavailable: 'the provider does not answer',
  rate_limited: 'the provider is rate limiting',
  credentials: 'the provider rejects the credentials',
  budget: 'the daily limit is reached',
}

/** Why text messages are delayed, as the end of a sentence. */
export const delayText = (kind: string | null): string => reasons[kind ?? ''] ?? 'they cannot be sent'
