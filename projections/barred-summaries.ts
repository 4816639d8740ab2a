import type { Database } from 'better-sqlite3'

/**
 * Capsules and replacements whose words are still there, and that cover what the owner had forgotten: they say it in
 * words of their own. What is built on one of them derives from it. What is only hidden until it is erased may come back.
 */
export function createBarredSummariesQuery(views: Database): () => number[] {
  const summaries = views.prepare<[], { seq: number }>(
    `SELECT DISTINCT derivations.seq FROM memory_barred_sources
     JOIN derivations ON derivations.sourceSeq = memory_barred_sources.seq
     WHERE derivations.seq IN (SELECT seq FROM context_compactions WHERE erased <> 1
       UNION ALL SELECT seq FROM context_capsules WHERE erased <> 1)
     ORDER BY derivations.seq`,
  )
  return () => summaries.all().map(({ seq }) => seq)
}
