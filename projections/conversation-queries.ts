import { type Kysely, sql } from 'kysely'
import type { ConversationRow } from './conversations.ts'
import type { ViewsTables } from './tables.ts'

/** Conversations with the time of their last event and their event count, both from the timeline. */
function conversations(views: Kysely<ViewsTables>) {
  return views
    .selectFrom('conversations')
    .selectAll('conversations')
    .innerJoin('timeline_conversations as known', 'known.conversationId', 'conversations.id')
    .innerJoin('timeline_runs as last', (join) =>
      join.on('last.firstSeq', '=', (run) =>
        run
          .selectFrom('timeline_runs')
          .select('firstSeq')
          .whereRef('conversationStart', '=', 'known.startSeq')
          .orderBy('firstSeq', 'desc')
          .limit(1),
      ),
    )
    .select('last.lastAt as lastEventAt')
    .select(sql<number>`last.eventsBefore + last.lastSeq - last.firstSeq + 1`.as('eventCount'))
}

/** The conversation that the next message on any channel joins. */
export async function openConversation(views: Kysely<ViewsTables>): Promise<ConversationRow | undefined> {
  return await conversations(views)
    .where('endedAt', 'is', null)
    .orderBy('conversations.startSeq', 'desc')
    .limit(1)
    .executeTakeFirst()
}

export async function conversationById(
  views: Kysely<ViewsTables>,
  id: string,
): Promise<ConversationRow | undefined> {
  return await conversations(views).where('id', '=', id).executeTakeFirst()
}

/** A page of conversations, newest first: those that started before `beforeSeq`, or the newest if it is null. */
export async function listConversations(
  views: Kysely<ViewsTables>,
  options: { readonly limit: number; readonly beforeSeq: number | null },
): Promise<ConversationRow[]> {
  const newest = conversations(views).orderBy('conversations.startSeq', 'desc').limit(options.limit)
  const { beforeSeq } = options
  const query = beforeSeq === null ? newest : newest.where('conversations.startSeq', '<', beforeSeq)
  return await query.execute()
}

/** The spans of a conversation with their event counts, in the order in which they began. */
export async function spansOfConversation(views: Kysely<ViewsTables>, id: string) {
  return await views
    .selectFrom('timeline_spans')
    .select(['spanId', 'kind', 'startSeq', 'startedAt', 'endedAt', 'reason'])
    .select((span) =>
      span
        .selectFrom('timeline_runs')
        .whereRef('timeline_runs.spanStart', '=', 'timeline_spans.startSeq')
        .select(sql<number>`sum(lastSeq - firstSeq + 1)`.as('events'))
        .as('eventCount'),
    )
    .where('conversationId', '=', id)
    .orderBy('startSeq')
    .execute()
}
