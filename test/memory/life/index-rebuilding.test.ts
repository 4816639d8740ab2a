import { expect, test } from 'vitest'
import { openMind } from '../mind.ts'

/** As after a rebuild of the views of a long ledger: the indexes catch up for minutes. */
const rebuilding = () => new Promise<void>(() => undefined)

test('remembers and recalls at once while the search indexes are being rebuilt, and forgets nothing', async () => {
  const mind = await openMind({ catchUpLagging: rebuilding, isThreaded: true })
  const { seq } = await mind.say('Remember that my sister is called Ada.', { open: true })
  const startMs = performance.now()
  const [kept, found, forgotten] = await Promise.all([
    mind.use('remember', { text: 'My sister is called Ada.' }, seq),
    mind.use('recall', { query: 'sister' }, seq),
    mind.use('forget', { query: 'sister' }, seq),
  ])
  expect(performance.now() - startMs).toBeLessThan(4000)
  expect(kept).toMatchObject({ ok: true, data: { new: true } })
  expect(found).toMatchObject({ ok: true })
  // Another memory than the one meant might be found in a part of the index.
  expect(forgotten).toMatchObject({ ok: false, reason: 'index_rebuilding' })
  expect(mind.texts()).toEqual(['My sister is called Ada.'])
})
