/** The zone itself where it is one, else UTC: a wrong setting must not silence the delegate. */
export function knownZone(timezone: string): string {
  try {
    return new Intl.DateTimeFormat('en-GB', { timeZone: timezone }).resolvedOptions().timeZone
  } catch (error) {
    if (error instanceof RangeError) return 'UTC'
    throw error
  }
}
