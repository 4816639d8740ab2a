import { expect, test } from 'vitest'
import { openMind } from '../mind.ts'

/** As after a rebuild of the views of a long ledger, when the indexes take minutes to catch up. */
const rebuilding = () => new Promise<void>(() => undefined)

test('remembers and recalls while the search indexes are being rebuilt, but refuses to forget', async () => {
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
  // A partial index might yield another memory than the intended one.
  expect(forgotten).toMatchObject({ ok: false, reason: 'index_rebuilding' })
  expect(mind.texts()).toEqual(['My sister is called Ada.'])
})
