import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FEATURES } from '../../../src/memory/recall/features.ts'
import { createRecallRanker, MAX_CANDIDATES } from '../../../src/memory/recall/ranker.ts'
import { ask, openIndex } from './indexed.ts'

/** A fact in many languages, with a question that shares a word with it, possibly inflected. */
const FACTS = [
  ['English', 'I am allergic to peanuts', 'Do I have an allergy?'],
  ['German', 'Meine Schwester heißt Käthe', 'wie heisst meine Schwester'],
  ['French', 'Mon médecin est à Orléans', 'où est mon medecin'],
  ['Polish', 'Mój kot nazywa się Łatek', 'jak nazywa się kot'],
  ['Turkish', "İstanbul'da oturuyorum", 'istanbul'],
  ['Vietnamese', 'Tôi thích cà phê sữa đá', 'ca phe'],
  ['Russian', 'Моя кошка любит рыбу', 'кого любит кошку'],
  ['Greek', 'Μένω στην Αθήνα', 'αθηνα'],
  ['Arabic', 'أختي تعمل في المدرسة', 'مدرسة'],
  ['Persian', 'من در تهران زندگی می‌کنم', 'تهران'],
  ['Hebrew', 'הבית שלי בחיפה', 'חיפה'],
  ['Hindi', 'मुझे किताबें पसंद हैं', 'किताब'],
  ['Bengali', 'আমি ঢাকায় থাকি', 'ঢাকায়'],
  ['Tamil', 'நான் சென்னையில் வசிக்கிறேன்', 'சென்னையில்'],
  ['Georgian', 'მე თბილისში ვცხოვრობ', 'თბილისში'],
  ['Armenian', 'Ես ապրում եմ Երևանում', 'երևանում'],
  ['Amharic', 'እኔ አዲስ አበባ እኖራለሁ', 'አበባ'],
  ['Chinese', '我对花生过敏', '我对什么过敏？'],
  ['Japanese', '妹は東京でラーメン屋をしています', '東京の店'],
  ['Korean', '저는 서울에서 살아요', '서울은 어때요'],
  ['Thai', 'ฉันแพ้ถั่วลิสง', 'ฉันแพ้ถั่วอะไร'],
  ['Lao', 'ຂ້ອຍອາໄສຢູ່ວຽງຈັນ', 'ວຽງຈັນ'],
  ['Khmer', 'ខ្ញុំរស់នៅភ្នំពេញ', 'ភ្នំពេញ'],
  ['Burmese', 'ကျွန်တော် ရန်ကုန်မှာ နေတယ်', 'ရန်ကုန်'],
] as const

test.each(FACTS)('finds a fact in %s among facts in all other languages', (_, fact, question) => {
  const index = openIndex()
  const seqs = index.say(...FACTS.map(([, each]) => each))
  const expected = seqs[FACTS.findIndex(([, each]) => each === fact)]
  expect(index.ranker().recall(ask(question))[0]?.seq).toBe(expected)
})

test('keeps and finds the first and second fact of any script, as turns and as memories', () => {
  const script = fc.constantFrom(
    'абвгдежзик',
    'αβγδεζηθικ',
    'אבגדהוזחטי',
    'ابتثجحخدذر',
    'कखगघचछजझटठ',
    '山川田中木村大小高林',
    'あいうえおかきくけこ',
    '가나다라마바사아자차',
    'กขคงจฉชซญด',
    'abcdefghij',
  )
  fc.assert(
    fc.property(
      script,
      fc.tuple(
        fc.array(fc.nat(4), { minLength: 4, maxLength: 7 }),
        fc.array(fc.integer({ min: 5, max: 9 }), { minLength: 4, maxLength: 7 }),
      ),
      (letters, [first, second]) => {
        const index = openIndex()
        const word = (numbers: readonly number[]) => numbers.map((number) => [...letters][number]).join('')
        const [one, two] = index.say(word(first), word(second))
        const [three, four] = [index.remember(word(first)), index.remember(word(second))]
        const found = (text: string) =>
          index
            .ranker()
            .recall(ask(text))
            .map(({ seq }) => seq)
        expect(found(word(first))).toEqual(expect.arrayContaining([one, three]))
        expect(found(word(second))).toEqual(expect.arrayContaining([two, four]))
      },
    ),
    { numRuns: 200 },
  )
})

const aTurn = fc.record({
  text: fc
    .array(
      fc.constantFrom('camping', 'trip', 'July', 'dog', 'Rex', 'my', 'friend?', '東京', '2025', 'thanks'),
      { minLength: 1, maxLength: 8 },
    )
    .map((words) => words.join(' ')),
  speaker: fc.constantFrom('owner' as const, 'delegate' as const),
  conversationId: fc.constantFrom('a', 'b'),
})
const aCue = fc
  .array(
    fc.constantFrom(
      'camping',
      'dog',
      'when',
      'in July',
      'Anna',
      'yesterday',
      '東京',
      'who',
      'trip 2025',
      '"',
      '*',
      'NEAR(',
      'AND',
    ),
    { minLength: 0, maxLength: 6 },
  )
  .map((words) => words.join(' '))

test('never returns what is excluded, removed or later, and returns the rest once, stably', () => {
  fc.assert(
    fc.property(
      fc.array(aTurn, { minLength: 1, maxLength: 40 }),
      aCue,
      fc.infiniteStream(fc.nat(5)),
      (turns, cue, dice) => {
        const index = openIndex()
        const seqs = index.say(...turns)
        const fate = new Map(seqs.map((seq) => [seq, dice.next().value]))
        index.remove(...seqs.filter((seq) => fate.get(seq) === 0))
        const excludedSeqs = new Set(seqs.filter((seq) => fate.get(seq) === 1))
        const beforeSeq = seqs[Math.floor(seqs.length * 0.8)] ?? 1
        const request = ask(cue, { excludedSeqs, beforeSeq })
        const hits = index.ranker().recall(request)
        const found = hits.map(({ seq }) => seq)
        expect(new Set(found).size).toBe(found.length)
        for (const seq of found) {
          expect(fate.get(seq)).toBeGreaterThan(1)
          expect(seq).toBeLessThan(beforeSeq)
        }
        for (const { relevance } of hits) {
          expect(relevance).toBeGreaterThanOrEqual(0)
          expect(relevance).toBeLessThanOrEqual(1)
        }
        expect(index.ranker().recall(request)).toEqual(hits)
      },
    ),
    { numRuns: 200 },
  )
})

test('answers any cue, whatever query syntax it contains', () => {
  const index = openIndex()
  index.say('tea', 'NOT NEAR AND OR', '* ^ : -')
  const ranker = index.ranker()
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' })), (text) => {
      expect(ranker.recall(ask(text)).length).toBeLessThanOrEqual(MAX_CANDIDATES)
    }),
  )
})

test('ignores courtesies and function words', () => {
  const index = openIndex()
  index.say('ok thanks, sounds great', 'who are you?')
  for (const cue of ['ok thanks!', 'who are you', '', '👍'])
    expect(index.ranker().recall(ask(cue))).toEqual([])
})

test('finds an answer by the question before it', () => {
  const index = openIndex()
  const [, , answer] = index.say(
    'We talked about the garden and the fence for a while.',
    { text: 'Which dentist do you go to?', speaker: 'delegate' },
    'Doctor Sommer, on Main Street.',
    { text: 'Noted.', speaker: 'delegate' },
  )
  const found = index
    .ranker()
    .recall(ask('my dentist'))
    .slice(0, 2)
    .map(({ seq }) => seq)
  expect(found).toContain(answer)
})

test('prefers the requested speaker between equals', () => {
  const index = openIndex()
  const [owner, delegate] = index.say('the museum was wonderful', {
    text: 'the museum was wonderful',
    speaker: 'delegate',
  })
  const first = (text: string) => index.ranker().recall(ask(text))[0]?.seq
  expect(first('what did Anna say of the museum')).toBe(owner)
  expect(first('what did Del say of the museum')).toBe(delegate)
  expect(first('what did I think of the museum')).toBe(owner)
})

test('finds what was said on a date in the cue, even if no word matches', () => {
  const index = openIndex()
  const [, june] = index.say(
    { text: 'went swimming', at: '2025-03-03T12:00:00Z' },
    { text: 'planted tomatoes', at: '2025-06-14T12:00:00Z' },
    { text: 'bought a car', at: '2025-09-03T12:00:00Z' },
  )
  const first = (text: string, more = {}) => index.ranker().recall(ask(text, more))[0]?.seq
  expect(first('what happened in June?')).toBe(june)
  expect(first('14 June 2025')).toBe(june)
  expect(first('что было в июне 2025')).toBe(june)
  expect(first('what did I do yesterday?', { nowMs: Date.UTC(2025, 5, 15, 9) })).toBe(june)
})

test('assigns a late hour in summer to its day, also when asked in winter', () => {
  const index = openIndex()
  // Half past midnight on 6 July in Berlin, which would be 5 July in winter time.
  index.say(
    { text: 'planted tomatoes', at: '2025-07-05T20:30:00Z' },
    { text: 'watered tomatoes', at: '2025-07-05T22:30:00Z' },
  )
  const inWinter = { timezone: 'Europe/Berlin', nowMs: Date.UTC(2025, 11, 1) }
  const fitsDay = (text: string) =>
    index
      .ranker()
      .inspect(ask(text, inWinter))
      .toSorted((a, b) => a.seq - b.seq)
      .map(({ features }) => features[FEATURES.indexOf('dateDay')] === 1)
  expect(fitsDay('What of the tomatoes on 5 July?')).toEqual([true, false])
  expect(fitsDay('What of the tomatoes on 6 July?')).toEqual([false, true])
})

test('finds a word of the same root', () => {
  const index = openIndex()
  const [root] = index.say('I have an allergy', 'our puppy is called Rex', 'the weather was fine')
  expect(index.ranker().recall(ask('am I allergic?'))[0]?.seq).toBe(root)
})

test('adds vector hits without a common word, if they are indexed', () => {
  const index = openIndex()
  const said = [
    'tea with lemon',
    ...Array.from({ length: 9 }, (_, at) => `nothing of the kind ${at}`),
    'Earl Grey',
  ]
  const seqs = index.say(...said)
  const [lexical, semantic = 0] = [seqs[0], seqs.at(-1)]
  const near = [
    { seq: 77, similarity: 0.9 },
    { seq: semantic, similarity: 0.8 },
  ]
  const ranker = createRecallRanker({ views: index.db })
  const withVector = ranker.recall(ask('tea', { near }))
  expect(withVector.map(({ seq }) => seq).slice(0, 1)).toEqual([lexical])
  expect(withVector.find(({ seq }) => seq === semantic)?.relevance).toBe(0.8)
  expect(withVector.some(({ seq }) => seq === 77)).toBe(false)
  const excluded = ranker.recall(ask('tea', { near, excludedSeqs: new Set([semantic]) }))
  expect(excluded.some(({ seq }) => seq === semantic)).toBe(false)
})

test('answers like a new ranker after any additions and removals', () => {
  const aStep = fc.oneof(
    aTurn.map((turn) => ({ turn, taken: null })),
    fc.nat(30).map((taken) => ({ turn: null, taken })),
  )
  fc.assert(
    fc.property(fc.array(aStep, { minLength: 1, maxLength: 30 }), aCue, aCue, (steps, first, second) => {
      const index = openIndex()
      const kept = index.ranker()
      const seqs: number[] = []
      for (const { turn, taken } of steps) {
        if (turn) {
          seqs.push(...index.say(turn))
          if (seqs.length % 3 === 0) seqs.push(index.remember(turn.text))
        } else index.remove(seqs[taken ?? 0] ?? 0)
        // What is excluded varies; some entries were removed or have no words.
        const excludedSeqs = new Set(seqs.filter((seq) => seq % (1 + (seqs.length % 4)) === 0))
        for (const cue of [first, second]) {
          for (const request of [ask(cue), ask(cue, { excludedSeqs })])
            expect(kept.recall(request)).toEqual(index.ranker().recall(request))
        }
      }
      const middle = ask(first, { beforeSeq: Math.ceil(seqs.length / 2) })
      expect(kept.recall(middle)).toEqual(index.ranker().recall(middle))
    }),
    { numRuns: 40 },
  )
})

test('finds an old turn among thousands with the same common words', () => {
  const index = openIndex()
  const [rare] = index.say('tea with a unicorn')
  const [both] = index.say('my sister drinks tea')
  index.say(...Array.from({ length: 6000 }, (_, at) => (at % 2 === 0 ? `tea number ${at}` : `sister ${at}`)))
  const hits = index.ranker().recall(ask('tea unicorn'))
  expect(hits.length).toBeGreaterThan(MAX_CANDIDATES - 5)
  expect(hits[0]?.seq).toBe(rare)
  const together = index.ranker().recall(ask('does Anna have a sister who drinks tea'))
  expect(together.slice(0, 3).map(({ seq }) => seq)).toContain(both)
})

test('finds a rare word by its root behind a thousand entries with a common word', () => {
  const index = openIndex()
  const [peanuts] = index.say('The owner is allergic to peanuts')
  index.say(...Array.from({ length: 1100 }, (_, day) => `The doctor came on day ${day}`))
  const found = index.ranker().recall(ask('what did the doctor say about the allergy?'))
  expect(found[0]?.seq).toBe(peanuts)
})

test('carries nothing over from one cue to the next', () => {
  const index = openIndex()
  index.say('a unicorn', ...Array.from({ length: 2000 }, (_, at) => `tea number ${at}`), 'a lantern')
  const kept = index.ranker()
  for (const cue of ['tea', 'unicorn', 'lantern', 'unicorn tea', 'lantern', 'tea', 'number 7'])
    expect(kept.recall(ask(cue))).toEqual(index.ranker().recall(ask(cue)))
})
