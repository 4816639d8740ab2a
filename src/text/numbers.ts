import { foldText } from './text.ts'

/** A written number: its digits without separators, and the value of each part. */
export type WrittenNumber = { readonly digits: string; readonly parts: readonly number[] }

const DIGITS = /\p{Nd}(?:(?:[.,:/ -]|\)[ -]?| ?\()?\p{Nd})*/gu

/**
 * Converts digits of any script to ASCII. Unicode's digit blocks start at a multiple of 16, or 10 above one.
 */
export function toAsciiDigits(text: string): string {
  return text.replace(/\p{Nd}/gu, (digit) => {
    if (/\d/.test(digit)) return digit
    const code = digit.codePointAt(0) ?? 0
    let zero = code
    while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1)) && code - zero < 9) zero -= 1
    return String(code - zero)
  })
}

export function writtenNumbers(text: string): WrittenNumber[] {
  const ascii = toAsciiDigits(foldText(text))
  return [...ascii.matchAll(DIGITS)].map(([number]) => ({
    digits: number.replace(/\D/g, ''),
    parts: (number.match(/\d+/g) ?? []).map(Number),
  }))
}

/**
 * Number words, one list per language. "One" is missing because it is an article in most. If languages share
 * a word, the first list wins.
 */
const WORDS: readonly string[] = [
  'zero:0 two:2 three:3 four:4 five:5 six:6 seven:7 eight:8 nine:9 ten:10 eleven:11 twelve:12 thirteen:13 fourteen:14 fifteen:15 sixteen:16 seventeen:17 eighteen:18 nineteen:19 twenty:20 thirty:30 forty:40 fifty:50 sixty:60 seventy:70 eighty:80 ninety:90 hundred:100 thousand:1000 first:1 second:2 third:3 fourth:4 fifth:5 twice:2 noon:12 midnight:0 once:1 half:30 quarter:15',
  'zwei:2 drei:3 vier:4 fünf:5 sechs:6 sieben:7 acht:8 neun:9 zehn:10 elf:11 zwölf:12 zwanzig:20 dreißig:30 vierzig:40 fünfzig:50 sechzig:60 siebzig:70 achtzig:80 neunzig:90 hundert:100 tausend:1000',
  'deux:2 trois:3 quatre:4 cinq:5 sept:7 huit:8 neuf:9 dix:10 onze:11 douze:12 vingt:20 trente:30 quarante:40 cinquante:50 soixante:60 cent:100 mille:1000',
  'dos:2 tres:3 cuatro:4 cinco:5 seis:6 siete:7 ocho:8 nueve:9 diez:10 doce:12 veinte:20 treinta:30 cuarenta:40 cincuenta:50 sesenta:60 setenta:70 ochenta:80 noventa:90 cien:100 mil:1000',
  'due:2 tre:3 quattro:4 cinque:5 sei:6 sette:7 otto:8 nove:9 dieci:10 undici:11 dodici:12 venti:20 trenta:30 quaranta:40 cinquanta:50 cento:100',
  'dois:2 duas:2 três:3 quatro:4 sete:7 oito:8 dez:10 doze:12 vinte:20 trinta:30 quarenta:40 cinquenta:50 cem:100',
  'twee:2 drie:3 vijf:5 zes:6 zeven:7 negen:9 tien:10 twaalf:12 twintig:20 dertig:30 veertig:40 vijftig:50',
  'två:2 fyra:4 fem:5 sju:7 åtta:8 nio:9 tio:10 elva:11 tolv:12 tjugo:20 trettio:30 fyrtio:40 femtio:50',
  'dwa:2 dwie:2 trzy:3 cztery:4 pięć:5 sześć:6 siedem:7 osiem:8 dziewięć:9 dziesięć:10 dwanaście:12 dwadzieścia:20 trzydzieści:30',
  'iki:2 üç:3 dört:4 beş:5 altı:6 yedi:7 sekiz:8 dokuz:9 yirmi:20 otuz:30 kırk:40 elli:50',
  "два:2 две:2 двое:2 три:3 трое:3 четыре:4 пять:5 шесть:6 семь:7 восемь:8 девять:9 десять:10 двенадцать:12 двадцать:20 тридцать:30 сорок:40 пятьдесят:50 дві:2 чотири:4 п'ять:5 шість:6 сім:7 вісім:8 дев'ять:9",
  'δύο:2 τρία:3 τρεις:3 τέσσερα:4 πέντε:5 έξι:6 επτά:7 οκτώ:8 εννέα:9 δέκα:10',
  'اثنان:2 اثنين:2 قطتان:2 ثلاثة:3 ثلاث:3 أربعة:4 أربع:4 خمسة:5 خمس:5 ستة:6 سبعة:7 ثمانية:8 تسعة:9 عشرة:10',
  'שניים:2 שתיים:2 שני:2 שתי:2 שלושה:3 שלוש:3 ארבעה:4 ארבע:4 חמישה:5 חמש:5 שישה:6 שבעה:7 שמונה:8 תשעה:9 עשרה:10',
  'दो:2 तीन:3 चार:4 पांच:5 पाँच:5 छह:6 सात:7 आठ:8 नौ:9 दस:10',
  '둘:2 두:2 셋:3 세:3 넷:4 네:4 다섯:5 여섯:6 일곱:7 여덟:8 아홉:9 열:10',
]

const byWord: ReadonlyMap<string, number> = new Map(WORDS.flatMap(valuesOf).reverse())
const byHan: ReadonlyMap<string, number> = new Map(
  valuesOf('〇:0 零:0 一:1 二:2 两:2 兩:2 三:3 四:4 五:5 六:6 七:7 八:8 九:9 十:10 百:100 千:1000'),
)
/** Words that count only in a dictated number. */
const byDictatedWord: ReadonlyMap<string, number> = new Map([
  ...byWord,
  ...valuesOf('oh:0 one:1 eins:1 uno:1'),
])

function valuesOf(list: string): [string, number][] {
  return list.split(' ').map((pair) => {
    const [word = '', value] = pair.split(':')
    return [word, Number(value)]
  })
}

/** Values of the number words in a text, in any language. A compound yields its parts. */
export function spokenNumbers(text: string): number[] {
  const folded = foldText(text)
  const spoken = (folded.match(/[\p{L}\p{M}']+/gu) ?? []).flatMap((word) => byWord.get(word) ?? [])
  const han = [...folded].flatMap((character) => byHan.get(character) ?? [])
  const compounds = (folded.match(/(?<![\p{L}\p{M}'])[\p{L}\p{M}']+-[\p{L}\p{M}']+/gu) ?? []).flatMap(
    (word) => {
      const [tens, ones] = word.split('-').map((part) => byWord.get(part))
      return tens !== undefined && ones !== undefined ? [tens + ones] : []
    },
  )
  return [...spoken, ...han, ...compounds]
}

/** Numbers spelled digit by digit ("four seven one one"), as they would be written. */
export function dictatedNumbers(text: string): WrittenNumber[] {
  const words = foldText(text).match(/[\p{L}\p{M}']+|\d/gu) ?? []
  const values = words.map((word) => byDictatedWord.get(word) ?? Number(word))
  const spelled = values.map((value) => (value < 10 ? value : ' ')).join('')
  return (spelled.match(/\d{2,}/g) ?? []).map((digits) => ({ digits, parts: [Number(digits)] }))
}
