/** How a turn shares the context of its model, in tokens. */
export type Profile = {
  readonly contextTokens: number
  /** Shorter instructions. */
  readonly isShort: boolean
  /** Everything that is sent. The rest is for the answer and for low estimates. */
  readonly requestTokens: number
  readonly toolTokens: number
  readonly standingTokens: number
  /** What a turn may add by calls and results. */
  readonly tailTokens: number
  /** The most of one earlier item, where not all of them fit. */
  readonly itemTokens: number
  readonly capsuleTokens: number
  /** A conversation of this length is compacted, up to its end of `keepTokens`. */
  readonly historyTokens: number
  readonly keepTokens: number
}

/** Below this, even the instructions count. */
const SHORT_BELOW = 8_000

/** The profile of a model by the size of its context; null if it is unknown, where nothing is limited. */
export function profileOf(contextTokens: number | null): Profile | null {
  if (contextTokens === null) return null
  const share = (part: number) => Math.floor(contextTokens * part)
  return {
    contextTokens,
    isShort: contextTokens < SHORT_BELOW,
    requestTokens: share(0.8),
    toolTokens: share(0.22),
    standingTokens: share(0.08),
    tailTokens: Math.min(2_400, share(0.15)),
    itemTokens: share(0.1),
    capsuleTokens: Math.min(4_000, share(0.09)),
    historyTokens: Math.max(share(0.22), share(0.8) - 6_000),
    keepTokens: share(0.08),
  }
}

/** The thresholds of compaction: those that are set, or what the context allows. */
export function thresholdsOf(
  profile: Profile | null,
  set: { readonly compactTokens: number; readonly capsuleTokens: number },
) {
  if (!profile) return set
  return {
    compactTokens: Math.min(set.compactTokens, Math.floor(profile.contextTokens * 0.8)),
    capsuleTokens: Math.min(set.capsuleTokens, Math.floor(profile.contextTokens * 0.4)),
  }
}
