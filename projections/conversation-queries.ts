import { type Kysely, sql } from 'kysely'
import type { ConversationRow } from './conversations.ts'
import type { ViewsTables } from './tables.ts'

/** The conversation that the next message belongs to, on whatever channel it comes. */
export async function openConversation(views: Kysely<ViewsTables>): Promise<ConversationRow | undefined> {
  return await views
    .selectFrom('conversations')
    .selectAll()
    .where('endedAt', 'is', null)
    .orderBy('startSeq', 'desc')
    .limit(1)
    .executeTakeFirst()
}

export async function conversationById(
  views: Kysely<ViewsTables>,
  id: string,
): Promise<ConversationRow | undefined> {
  return await views.selectFrom('conversations').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Newest first, those that began before `beforeSeq`. */
export async function listConversations(
  views: Kysely<ViewsTables>,
  options: { readonly limit: number; readonly beforeSeq: number | null },
): Promise<ConversationRow[]> {
  let query = views.selectFrom('conversations').selectAll().orderBy('startSeq', 'desc').limit(options.limit)
  if (options.beforeSeq !== null) query = query.where('startSeq', '<', options.beforeSeq)
  return await query.execute()
}

/** The spans of a conversation in the order in which they began. */
export async function spansOfConversation(views: Kysely<ViewsTables>, id: string) {
  return await views
    .selectFrom('timeline_spans')
    .select(['spanId', 'kind', 'startSeq', 'startedAt', 'endedAt', 'reason'])
    .select((span) =>
      span
        .selectFrom('timeline')
        .whereRef('timeline.spanStart', '=', 'timeline_spans.startSeq')
        .select(sql<number>`count(*)`.as('events'))
        .as('eventCount'),
    )
    .where('conversationId', '=', id)
    .orderBy('startSeq')
    .execute()
}
