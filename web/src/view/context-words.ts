import type { SessionContext, Usage } from '../data/session.ts'
import { countText } from './format.ts'

/** Why it cannot be compacted now; empty where it can. */
export function whyNotCompact(context: SessionContext): string {
  if (context.canCompact) return ''
  if (!context.active) return 'There is no conversation to compact yet.'
  if (context.compactionInFlight) return 'It is being compacted right now.'
  if (context.usageRecordedAt === null) return 'There is nothing to compact before the first reply.'
  return 'A reply is being written. It can be compacted after that.'
}

/** "1,234 tokens in, 1,000 of them cached, 48 out". */
export function usageText({ inputTokens, outputTokens, cachedTokens }: Usage): string {
  const cached = cachedTokens > 0 ? `, ${countText(cachedTokens)} of them cached` : ''
  return `${countText(inputTokens)} tokens in${cached}, ${countText(outputTokens)} out`
}
