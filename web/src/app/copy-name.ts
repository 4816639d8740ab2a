/** The cache with the offline copy. */
export const COPY = 'delegate-copy'
/** How long the copy is kept without contact to the service. */
export const KEPT_MS = 7 * 24 * 60 * 60 * 1000
