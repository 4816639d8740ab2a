import * as z from 'zod'
import type { LedgerEvent } from '../../ledger/event.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import { type SearchHit, type TimelineSearch, withoutMarks } from '../../projections/search.ts'
import { formatLocal } from '../lib/time.ts'
import { defineTool, type Tool } from '../model/tool.ts'
import { periodOf } from './period.ts'

const HITS = 10
/** Limit of a listing without a query. */
const LISTED = 40
/** Documents to read for a listing, because many are not utterances. */
const LOOKED_AT = 400
/** Types of events with words of a conversation. */
export const SAID =
  /^(?:chat\.message\.received|chat\.reply\.|sms\.(?:received|sent)$|call\.(?:utterance\.heard|reply\.spoken)$)/
const SPOKEN_CHANNELS = ['chat', 'voice', 'sms'] as const

/** Whether an event has barred words. A sent text derives from the delivery's request, which may be barred. */
export function isForgotten(
  event: LedgerEvent,
  ledger: LedgerReader,
  repeatsBarred: (event: LedgerEvent) => boolean,
): boolean {
  return (
    repeatsBarred(event) ||
    (event.type === 'sms.sent' &&
      ledger.readSeqs(event.derivedFrom).some((asked) => asked.type !== 'unknown' && repeatsBarred(asked)))
  )
}

/** Tools that look up the past and the current time. */
export function timelineTools(options: {
  readonly ledger: LedgerReader
  readonly search: (search: TimelineSearch) => Promise<readonly SearchHit[]>
  /** Whether the event is barred: it stays on the timeline, but the delegate must not see it. */
  readonly repeatsBarred: (event: LedgerEvent) => boolean
  /** Whether the owner changed the message of the turn since, or asked it again. */
  readonly isReplaced: (turnId: string) => boolean
}): Tool[] {
  const { ledger, repeatsBarred, isReplaced } = options

  return [
    defineTool({
      name: 'search_timeline',
      everyday: true,
      class: 'free',
      description:
        'Finds moments of the past by words that were said, texted or written; where asked for, only those of a channel, or of the days from one to another. Without a query: what was said then, the latest first.',
      brief: 'Finds what was said before, by words and days. Without a query: the latest.',
      parameters: z.object({
        query: z.string().min(1).max(1000).nullable(),
        channel: z.enum(SPOKEN_CHANNELS).nullable(),
        /** Days in the owner's time zone, inclusive. */
        from: z.iso.date().nullable(),
        to: z.iso.date().nullable(),
      }),
      idempotent: true,
      readOnly: true,
      reads: 'the timeline',
      async run({ query, channel, from, to }, { messageSeq, nowMs, timezone }) {
        const days = { from: from ?? undefined, to: to ?? undefined }
        const { fromAt, untilAt } = periodOf(days, { nowMs, timezone })
        const filters = { channel, fromAt, untilAt }
        const limit = query === null ? LOOKED_AT : HITS + 1
        const hits = await options.search({ query, limit, beforeSeq: messageSeq, filters })
        const events = new Map(ledger.readSeqs(hits.map(({ seq }) => seq)).map((event) => [event.seq, event]))
        let forgotten = 0
        const shown =
          query === null
            ? hits.filter(({ seq }) => SAID.test(events.get(seq)?.type ?? '')).slice(0, LISTED + 1)
            : hits
        const most = query === null ? LISTED : HITS
        const found = shown.slice(0, most).flatMap(({ seq, snippet }) => {
          const event = events.get(seq)
          // The index may still contain erased or hidden words.
          if (!event || event.type === 'unknown' || event.erased) return []
          if (isForgotten(event, ledger, repeatsBarred)) {
            if (event.turnId === null || !isReplaced(event.turnId)) forgotten += 1
            return []
          }
          const text = withoutMarks(snippet)
          return [{ seq, at: event.at, who: event.actor, channel: event.channel, type: event.type, text }]
        })
        return {
          ok: true,
          data: { hits: found, more: shown.length > most, ...(forgotten === 0 ? {} : { forgotten }) },
          derivedFrom: found.map(({ seq }) => seq),
        }
      },
    }),
    defineTool({
      name: 'current_time',
      class: 'free',
      description: 'The present date and time where the owner is.',
      parameters: z.object({}),
      idempotent: true,
      readOnly: true,
      async run(_args, { nowMs, timezone }) {
        const now = new Date(nowMs)
        return { ok: true, data: { now: now.toISOString(), local: formatLocal(now, timezone), timezone } }
      },
    }),
  ]
}
