import { wordsOf } from '../../../projections/recall-text.ts'

export type QuestionKind = 'time' | 'count' | 'name'

/** Question phrases of each kind, in the most spoken languages. */
const ASKING: Readonly<Record<QuestionKind, string>> = {
  time: `when|what date|what day|what month|what year|what time|which day|which month|which year|how long ago|since when|
    wann|seit wann|quand|cuándo|quando|wanneer|kiedy|когда|коли|πότε|ne zaman|متى|כי|מתי|कब|いつ|何時|什么时候|什麼時候|几时|
    언제|เมื่อไหร่|เมื่อไร|khi nào|kapan|când|mikor|när|hvornår|når|milloin|kdy`,
  count: `how many|how much|how often|how long|how old|how far|number of|wie viele|wie viel|wie oft|wie lange|wie alt|combien|
    cuántos|cuántas|cuánto|quantos|quantas|quanti|quante|quanto|hoeveel|сколько|скільки|πόσο|πόσα|kaç|كم|כמה|कितने|कितना|
    いくつ|何人|何回|几个|多少|얼마|กี่|เท่าไหร่|bao nhiêu|berapa`,
  name: `who|whom|whose|where|which|name|names|named|called|title|wer|wen|wem|welche|welcher|welches|wie heißt|qui|où|quel|
    quelle|quién|quiénes|dónde|cuál|quem|onde|qual|quale|waar|welke|kto|gdzie|кто|где|какой|какая|хто|де|ποιος|πού|
    nerede|hangi|من هو|أين|מי|איפה|कौन|कहाँ|だれ|誰|どこ|谁|誰|哪里|哪裡|누구|어디|ใคร|ที่ไหน|ở đâu|siapa|di mana`,
}

/** Words for the speaker and for the person addressed. */
const SELF = `i|me|my|mine|myself|we|our|us|ich|mich|mir|mein|meine|meinen|wir|je|moi|mes|yo|mi|eu|meu|minha|mio|mia|
  ik|mijn|mój|moja|я|мне|меня|мой|моя|мои|εγώ|μου|benim|أنا|אני|שלי|मैं|मेरा|मेरी|मुझे|私|僕|俺|我|나는|내가|제가|저는|나의|저의|ฉัน|ผม|tôi|saya|aku`
const OTHER = `you|your|yours|du|dich|dir|dein|deine|tu|toi|tes|vous|votre|tú|ti|você|seu|sua|jij|je|jouw|ty|twój|ты|тебе|твой|вы|
  εσύ|أنت|אתה|את|तुम|आप|あなた|君|你|您|너는|네가|당신|คุณ|bạn|kamu`

export type QuestionWords = {
  kindsOf(words: readonly string[]): ReadonlySet<QuestionKind>
  /** Whether the text mentions the speaker and the person addressed. */
  personsOf(words: readonly string[]): { readonly self: boolean; readonly other: boolean }
}

/** Recognises questions and persons in the words of a text (folded, in order). */
export function createQuestionWords(): QuestionWords {
  const kinds = (['time', 'count', 'name'] as const).map((kind) => [kind, phrasesOf(ASKING[kind])] as const)
  const self = phrasesOf(SELF)
  const other = phrasesOf(OTHER)
  return {
    kindsOf: (words) => new Set(kinds.flatMap(([kind, phrases]) => (isAny(phrases, words) ? [kind] : []))),
    personsOf: (words) => ({ self: isAny(self, words), other: isAny(other, words) }),
  }
}

type Phrases = ReadonlyMap<string, readonly (readonly string[])[]>

function phrasesOf(list: string): Phrases {
  const phrases = new Map<string, (readonly string[])[]>()
  for (const text of list.split('|')) {
    const words = wordsOf(text)
    const [first] = words
    if (first !== undefined) phrases.set(first, [...(phrases.get(first) ?? []), words])
  }
  return phrases
}

function isAny(phrases: Phrases, words: readonly string[]): boolean {
  return words.some((first, from) =>
    phrases.get(first)?.some((phrase) => phrase.every((word, index) => words[from + index] === word)),
  )
}
