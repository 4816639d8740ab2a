import type { SessionContext, TurnReport } from '../../../src/http/contract/session.ts'
import { countText } from '../design/format.ts'
import { msg } from '../design/msg.ts'

/** Why the context cannot be compacted now, or an empty string if it can. */
export function whyNotCompact(context: SessionContext): string {
  if (context.canCompact) return ''
  if (!context.active) return msg`No conversation to compact yet.`
  if (context.compactionInFlight) return msg`Compaction is in progress.`
  if (context.usageRecordedAt === null) return msg`Nothing to compact before the first reply.`
  return msg`A reply is in progress. You can compact when it is finished.`
}

/** "1,234 tokens in, 1,000 of them cached, 48 out". */
export function usageText({ inputTokens, outputTokens, cachedTokens }: TurnReport['usage']): string {
  const cached = cachedTokens > 0 ? msg`, ${countText(cachedTokens)} of them cached` : ''
  return msg`${countText(inputTokens)} tokens in${cached}, ${countText(outputTokens)} out`
}
