import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { NewEvent } from '../../ledger/event.ts'
import type { AnyEvent } from '../../ledger/reader.ts'
import type { ContextItem } from '../../src/agent/context/context.ts'
import { createProvenance } from '../../src/agent/turn/provenance.ts'
import { roleOf } from '../../src/erasing/kinds.ts'
import type { ErasureTarget } from '../../src/erasing/targets.ts'
import { filesHolding, testDirectory } from '../support/directory.ts'
import { openErasing } from '../support/erasing.ts'
import { exampleOf } from '../support/facts.ts'
import { openTestQueries } from '../support/queries.ts'
import { openTestStorage } from '../support/storage.ts'
import { newId } from '../support/writer.ts'

/** Unique words: a file that holds one still holds the text it came from. */
const SECRETS = [
  ...['quokkafelt', 'zanderbrick', 'ibexlantern', 'mangrovetin', 'wombatsilk', 'yarrowglass'],
  ...['heronpewter', 'juniperloom', 'ottercrimson', 'basaltviola', 'lupinferry', 'gannetslate'],
]
const COMMON_TALK = [
  'You are welcome. Anything else I can help with?',
  'Noted. Anything else?',
  'Gladly, as always.',
]

type Step = {
  readonly what: 'talk' | 'remember' | 'timer' | 'note' | 'task' | 'ask' | 'capsule'
  readonly secret: number
  readonly talk: number
  /** An earlier step that the reply also mentions. */
  readonly earlier: number
}

const aStep = fc.record({
  what: fc.constantFrom(
    'talk' as const,
    'remember' as const,
    'timer' as const,
    'note' as const,
    'task' as const,
    'ask' as const,
    'capsule' as const,
  ),
  secret: fc.nat(SECRETS.length - 1),
  talk: fc.nat(COMMON_TALK.length - 1),
  earlier: fc.nat(12),
})

/** Storage with erasure, and a conversation that records sources as the agent does. */
async function openConversation() {
  const directory = testDirectory()
  const storage = await openTestStorage(directory)
  const { append, ledger } = storage
  const queries = openTestQueries(directory)
  const { sourcesOf } = createProvenance()
  const past: ContextItem[] = []
  const { erasures } = openErasing(storage, queries)

  async function add(...events: NewEvent[]): Promise<AnyEvent[]> {
    const appended = await append(events)
    if (appended.status !== 'appended') throw new Error('a fact was there already')
    return ledger.readSeqs(appended.events.map(({ seq }) => seq))
  }
  const seqOf = ([event]: readonly AnyEvent[]) => event?.seq ?? 0

  async function turn({ what, secret, talk, earlier }: Step): Promise<void> {
    const word = SECRETS[secret] ?? ''
    const place = { conversationId: 'c', spanId: 's', turnId: newId(), channel: 'chat' } as const
    const remembers = past[earlier]?.item
    const asked =
      what === 'ask' ? 'What did I say about it?' : what === 'talk' ? 'Good morning to you' : `About ${word}`
    const [message] = await add({
      type: 'chat.message.received',
      actor: 'owner',
      ...place,
      facts: {},
      body: { text: asked },
    })
    const seq = message?.seq ?? 0
    const given: AnyEvent[] = message ? [message] : []
    const made = { actor: 'delegate' as const, ...place, derivedFrom: [seq] }
    if (what !== 'talk' && what !== 'ask' && what !== 'capsule') {
      given.push(
        ...(await add({
          type: 'tool.called',
          ...made,
          facts: { callId: newId(), tool: what, round: 1, idempotent: true },
          body: { arguments: JSON.stringify({ text: word }) },
        })),
      )
    }
    if (what === 'remember') {
      const stored = exampleOf('memory.stored', { derivedFrom: [seq] })
      if (stored.type !== 'memory.stored') throw new Error('no memory')
      const words = {
        subject: 'owner',
        slot: '',
        value: word,
        quote: asked,
        canonicalKey: word,
        slotKey: '',
        statementKey: '',
      }
      const memory = await add({
        ...stored,
        facts: { ...stored.facts, memoryId: newId(), sourceSeqs: [seq], supersedes: null, linkedTo: null },
        body: { text: `The owner likes ${word}`, ...words },
      })
      given.push(...memory)
    }
    if (what === 'timer') given.push(...(await add(withTitle('timer.set', word, made))))
    if (what === 'note') given.push(...(await add(withTitle('note.created', word, made))))
    if (what === 'task') given.push(...(await add(withTitle('task.dispatched', word, made))))
    const repeated = remembers?.type === 'message' ? remembers.text : ''
    const text = [
      what === 'talk' ? '' : `As for ${what === 'ask' ? 'that' : word}.`,
      repeated,
      COMMON_TALK[talk],
    ]
      .filter((part) => part !== '')
      .join(' ')
    const reply = await add({
      type: 'chat.reply.sent',
      actor: 'delegate',
      ...place,
      derivedFrom: [...new Set([seq, ...sourcesOf(text, given, past)])].sort((a, b) => a - b),
      facts: {},
      body: { text },
    })
    past.push(
      { item: { type: 'message', role: 'owner', text: asked }, seqs: [seq], foreign: false },
      { item: { type: 'message', role: 'delegate', text }, seqs: [seqOf(reply)], foreign: false },
    )
    if (what !== 'capsule') return
    const capsule = exampleOf('context.capsule.written', { derivedFrom: past.flatMap(({ seqs }) => seqs) })
    if (capsule.type !== 'context.capsule.written') throw new Error('no capsule')
    await add({
      ...capsule,
      conversationId: 'c',
      body: { text: past.map(({ item }) => (item.type === 'message' ? item.text : '')).join('\n') },
    })
  }

  function withTitle(
    type: 'timer.set' | 'note.created' | 'task.dispatched',
    word: string,
    made: object,
  ): NewEvent {
    const event = exampleOf(type, {})
    const id = newId()
    const body =
      type === 'timer.set'
        ? { title: word }
        : type === 'note.created'
          ? { title: word, content: word }
          : { title: word, prompt: word }
    const ids =
      type === 'timer.set' ? { timerId: id } : type === 'note.created' ? { noteId: id } : { taskId: id }
    return { ...event, ...made, facts: { ...event.facts, ...ids }, body } as NewEvent
  }

  return { directory, storage, erasures, turn, queries }
}

const THINGS = /^(timer|note|task)\./

/** A reply repeats another that repeats a third; all are redacted, and then what the third repeats is erased. */
const COPY_OF_A_COPY: [Step[], { memory: boolean; which: number }[]] = [
  [
    { what: 'timer', secret: 10, talk: 1, earlier: 0 },
    { what: 'task', secret: 3, talk: 1, earlier: 2 },
    { what: 'remember', secret: 9, talk: 1, earlier: 3 },
    { what: 'remember', secret: 4, talk: 0, earlier: 12 },
    { what: 'capsule', secret: 2, talk: 1, earlier: 4 },
    { what: 'task', secret: 10, talk: 2, earlier: 9 },
    { what: 'ask', secret: 3, talk: 2, earlier: 9 },
    { what: 'talk', secret: 0, talk: 0, earlier: 1 },
    { what: 'remember', secret: 7, talk: 1, earlier: 11 },
    { what: 'remember', secret: 3, talk: 0, earlier: 12 },
    { what: 'timer', secret: 1, talk: 0, earlier: 0 },
    { what: 'ask', secret: 11, talk: 2, earlier: 1 },
  ],
  [
    { memory: false, which: 4 },
    { memory: true, which: 10 },
    { memory: false, which: 1 },
    { memory: false, which: 1 },
  ],
]

test('erases exactly the plan, keeps the words of things and leaves no copy of an erased word', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(aStep, { minLength: 2, maxLength: 14 }),
      fc.array(fc.record({ memory: fc.boolean(), which: fc.nat(12) }), { minLength: 2, maxLength: 4 }),
      async (steps, targets) => {
        const { directory, storage, erasures, turn, queries } = await openConversation()
        const { ledger } = storage
        for (const step of steps) await turn(step)
        for (const { memory, which } of targets) {
          const before = ledger.readAfter(0, 1000)
          const target = targetIn(before, memory, which)
          if (!target) continue
          const plan = await erasures.plan(target)
          if (!('count' in plan)) continue
          expect(await erasures.eraseNow(target)).toEqual({ erased: plan.count })
          const after = ledger.readAfter(0, 10_000)
          const gone = before.filter(({ seq, erased }) => !erased && after[seq - 1]?.erased)
          expect(gone).toHaveLength(plan.count)
          expect(gone.filter(({ type }) => THINGS.test(type))).toEqual([])

          // A word that only erased events and their copies held is in no file.
          const kept = after.filter(
            (event) => !event.erased && (roleOf(event) === 'said' || THINGS.test(event.type)),
          )
          for (const word of SECRETS.filter((each) => JSON.stringify(gone).includes(each))) {
            if (!JSON.stringify(kept).includes(word)) expect(filesHolding(directory, word)).toEqual([])
          }
          // Sharing a polite sentence does not make one reply a copy of another.
          const secrets = SECRETS.filter((each) => JSON.stringify(plan.named).includes(each))
          for (const reply of gone.filter((event) => roleOf(event) === 'reply'))
            expect(secrets.some((each) => JSON.stringify(reply).includes(each)) || secrets.length === 0).toBe(
              true,
            )
        }
        await erasures.close()
        await queries.close()
        await storage.close()
      },
    ),
    { numRuns: 8, endOnFailure: true, examples: [COPY_OF_A_COPY] },
  )
})

function targetIn(events: readonly AnyEvent[], isMemory: boolean, which: number): ErasureTarget | null {
  if (isMemory) {
    const memories = events.filter((event) => event.type === 'memory.stored' && !event.erased)
    const memory = memories[which % Math.max(1, memories.length)]
    return memory?.type === 'memory.stored' ? { kind: 'memory', id: memory.facts.memoryId } : null
  }
  const messages = events.filter(
    (event) => event.type === 'chat.message.received' && event.body?.text.startsWith('About'),
  )
  const message = messages[which % Math.max(1, messages.length)]
  return message ? { kind: 'message', id: String(message.seq) } : null
}
