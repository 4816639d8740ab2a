import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createUtteranceQueries } from '../../projections/utterances.ts'
import { said } from '../support/writer.ts'
import { openWriterAndViews } from '../support/writer-and-views.ts'

test('agrees with the count on whether the backlog exceeds a limit', { tags: ['long'] }, () => {
  fc.assert(
    fc.property(
      fc.array(fc.boolean(), { maxLength: 30 }),
      fc.integer({ min: 0, max: 32 }),
      (isReadLater, count) => {
        const { writer, views } = openWriterAndViews()
        const words = isReadLater.map((_, index) => said(`word ${index}`))
        if (words.length > 0) writer.append(...words)
        const seqs = writer.ledger.seqsOf(['chat.message.received'], {
          firstSeq: 1,
          lastSeq: words.length + 1,
        })
        const read = seqs.filter((_, index) => isReadLater[index])
        if (read.length > 0) {
          writer.append({
            type: 'memory.extraction.completed',
            actor: 'service',
            channel: 'inner',
            facts: {
              fromSeq: Math.min(...read),
              toSeq: Math.max(...read),
              utteranceSeqs: read,
              method: 'rules',
              candidates: 0,
              accepted: 0,
              usage: null,
            },
          })
        }
        const utterances = createUtteranceQueries(views)
        expect(utterances.unreadCount()).toBe(isReadLater.filter((isRead) => !isRead).length)
        expect(utterances.isBehindBy(count)).toBe(utterances.unreadCount() > count)
      },
    ),
    { numRuns: 40 },
  )
})
