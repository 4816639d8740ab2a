// @module-tag long

import { expect, test } from 'vitest'
import type { AnyEvent } from '../../ledger/reader.ts'
import { killConversations } from './kills.ts'
import { survey } from './soundness.ts'
import { examineTalk } from './talk.ts'
import { inTemporaryDirectory } from './temporary.ts'

test('loses nothing acknowledged and does nothing twice when kill -9 cuts conversations off', async () => {
  await inTemporaryDirectory(async (directory) => {
    const { flaws, talk } = await killConversations({ directory, rounds: 3, seed: 2 })
    expect(flaws).toEqual([])
    expect(talk.length).toBeGreaterThan(0)

    // Proves that the check would notice: the same ledger with a fact missing or doubled.
    const { events } = survey(directory)
    const flawsWithout = (lost: AnyEvent | undefined) =>
      examineTalk(
        events.filter((event) => event !== lost),
        talk,
      ).flaws
    const flawsWithTwo = (type: AnyEvent['type']) =>
      examineTalk([...events, ...events.filter((event) => event.type === type).slice(0, 1)], talk).flaws
    for (const type of ['chat.message.received', 'chat.reply.sent', 'turn.completed'] as const) {
      expect(flawsWithout(events.find((event) => event.type === type))).not.toEqual([])
      expect(flawsWithTwo(type)).not.toEqual([])
    }
    // Only finished turns count: an interrupted one may lack what its tool would have made.
    const answered = talk.filter(({ reply }) => reply !== null)
    const made = events.find(
      (event) =>
        ['memory.stored', 'note.created', 'timer.set'].includes(event.type) &&
        answered.some(({ message }) => JSON.stringify(event).includes(message.mark)),
    )
    if (!made) throw new Error('no tool recorded a fact')
    expect(flawsWithout(made)).not.toEqual([])
    expect(flawsWithTwo(made.type)).not.toEqual([])
    expect(flawsWithTwo('tool.returned')).not.toEqual([])
  })
})
