import type { Database } from 'better-sqlite3'

type Name = { readonly segment: number; readonly name: Buffer }

/**
 * Takes deleted words out of where FTS5's `secure-delete` leaves them. It removes a term from the pages of its
 * b-trees, but `<table>_idx` goes on naming the beginning of a page by the term that was first on it, in as many
 * letters as told it from the term before. A name that is the beginning of a deleted term and of no other becomes
 * the beginning of the next term that is left, in as few letters as are greater than the old name: no term that is
 * left lies between the two, so each is found on the page on which it was. Inside the caller's transaction.
 */
export function createSeparatorCleaner(
  db: Database,
  table: string,
): (deletedTerms: Iterable<string>) => void {
  // Of instances, for the first of a term is found at once, while its one row tells how many there are.
  db.exec(`CREATE VIRTUAL TABLE IF NOT EXISTS temp.${table}_terms USING fts5vocab(main, ${table}, instance)`)
  // From the last to the first, so that the name after each is a clean one. A name of one byte has no letter.
  const names = db.prepare<[], Name>(
    `SELECT segid AS segment, CAST(term AS BLOB) AS name FROM ${table}_idx WHERE length(term) > 1
     ORDER BY segid, term DESC`,
  )
  const nextTerm = db
    .prepare<[Buffer], Buffer>(
      `SELECT CAST(term AS BLOB) FROM temp.${table}_terms WHERE term >= CAST(? AS TEXT) ORDER BY term LIMIT 1`,
    )
    .pluck()
  const rename = unguarded(db, () =>
    db.prepare<[Buffer, number, Buffer]>(`UPDATE ${table}_idx SET term = ? WHERE segid = ? AND term = ?`),
  )
  const rebuild = db.prepare(`INSERT INTO ${table}(${table}) VALUES ('rebuild')`)

  return (deletedTerms) => {
    const beginnings = new Set<string>()
    for (const term of deletedTerms) {
      const bytes = Buffer.from(term).toString('latin1')
      for (let length = 1; length <= bytes.length; length += 1) beginnings.add(bytes.slice(0, length))
    }
    // To ask for terms moves what is still in memory into the pages, so that their names are all there.
    nextTerm.get(Buffer.alloc(0))
    let after: Name | undefined
    for (const each of names.all()) {
      const following = after?.segment === each.segment ? after : undefined
      const name = beginnings.has(each.name.toString('latin1', 1))
        ? cleanName(each.name, nextTerm)
        : each.name
      // A page without a term would be named like the one after it; FTS5 itself leaves none that has a name.
      if (following && name.compare(following.name) >= 0) {
        rebuild.run()
        return
      }
      if (name !== each.name) unguarded(db, () => rename.run(name, each.segment, each.name))
      after = { segment: each.segment, name }
    }
  }
}

/** The name itself where a term that is left begins so, or else what takes its place. */
function cleanName(name: Buffer, nextTerm: { get(letters: Buffer): Buffer | undefined }): Buffer {
  // The first byte tells which b-tree the term is in: that of whole words, or one of beginnings of words. These
  // have the order of the words that they begin, and are no shorter than what names them.
  const [tree = 0] = name
  const letters = name.subarray(1)
  const next = nextTerm.get(letters)
  if (next === undefined) return Buffer.of(tree + 1)
  const differs = letters.findIndex((byte, index) => byte !== next[index])
  return differs < 0 ? name : Buffer.concat([name.subarray(0, 1), next.subarray(0, differs + 1)])
}

/** SQLite's defensive mode keeps statements from the tables of an index. */
function unguarded<T>(db: Database, work: () => T): T {
  db.unsafeMode(true)
  try {
    return work()
  } finally {
    db.unsafeMode(false)
  }
}
