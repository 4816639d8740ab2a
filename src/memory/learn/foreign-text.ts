import { lexiconOf, occurs } from '../../text/lexicon.ts'
import { languageOf, type Span, sentencesOf } from '../../text/text.ts'

/** A part of the owner's message that is not the owner speaking: pasted, quoted, or text to work on. */
export type ForeignSpan = {
  readonly start: number
  readonly end: number
  readonly reason: 'injected_text' | 'dictated_text'
}

const BLOCKS: readonly RegExp[] = [
  // Code fences, quoted mail, and the formats in which the service passes data to models.
  /```[\s\S]*?(?:```|$)/gu,
  /<data\b[\s\S]*?(?:<\/data[^>]{0,100}>?|$)/gu,
  /<(?:system|assistant|user|developer|tool|instructions?|memory|memories|context|prompt)\b[^>]{0,500}>[\s\S]*?(?:<\/[^>]{0,100}>?|$)/gu,
  /\[\/?inst\][\s\S]*?(?:\[\/inst\]|$)/gu,
  /<\|[\s\S]*?(?:\|>|$)/gu,
  /^[ \t]*>.*$/gmu,
  /^[ \t]*(?:system|assistant|developer|tool|user|human|ai|delegate|memory|memories|recalled)[ \t]*:.*$/gmu,
  /^[ \t]*(?:[-*•][ \t]*[([]?|[([])\d{4}-\d{2}-\d{2}[^\n]*$/gmu,
  /^[ \t]*[-*•] .*\(\d{4}-\d{2}-\d{2}[^)\n]{0,80}\)[ \t]*$/gmu,
  /^-{2,} ?(?:original|forwarded|begin)[\s\S]*$/gmu,
  /^[ \t]*(?:from|subject|von|betreff|de|objet|asunto|da|oggetto|assunto): .*$[\s\S]*/gmu,
]

/** Quoted speech. A title or a single word does not count. */
const QUOTED =
  /"([^"\n]{2,2000})"|(?<![\p{L}\p{N}])'([^'\n]{12,2000})'(?![\p{L}\p{N}])|[「『]([^「『」』\n]{2,2000})[」』]/gu
const MIN_QUOTED_WORDS = 3
const MIN_QUOTED_CHARACTERS = 6

/** Announces that somebody else's words follow the colon. */
const INTRODUCED =
  /(?:^|\n|(?<=[.!?] ))[^\n.!?:]{0,120}(?<![\p{L}])(?:e-?mail|mail|message|letter|text|sms|post|tweet|article|lyrics?|song|poem|quote|caption|sign|voicemail|transcript|review|forwarded|says|said|reads|read|wrote|writes|following|below|document|paragraph|sentence|essay|prompt|instructions?|nachricht|brief|schreibt|schrieb|sagt|sagte|folgende[rsn]?|text|courriel|lettre|écrit|suivante?|correo|mensaje|carta|escribió|dice|dijo|siguiente|messaggio|lettera|scrive|ha scritto|dice|seguente|mensagem|carta|escreveu|disse|seguinte|bericht|schreef|письмо|сообщение|написал[аи]?|пишет|сказал[аи]?|следующ\p{L}+|邮件|郵件|消息|短信|メール|メッセージ|문자|메일|메시지)\s*[^\n.!?:]{0,60}:\s*(?=\S)/gu

/**
 * Finds the parts of a message in which the owner is not speaking. `text` is folded (`foldLines`). A
 * statement that the owner asks to remember stays theirs.
 */
export function foreignSpans(text: string): ForeignSpan[] {
  const spans: ForeignSpan[] = []
  for (const pattern of BLOCKS) {
    for (const match of text.matchAll(pattern)) {
      spans.push({ start: match.index, end: match.index + match[0].length, reason: 'injected_text' })
    }
  }
  for (const match of text.matchAll(QUOTED)) {
    const words = match[1] ?? match[2] ?? match[3] ?? ''
    const isWhole = match[0].length >= text.trim().length
    const isSpeech =
      words.split(/\s+/).length >= MIN_QUOTED_WORDS || (match[3] ?? '').length >= MIN_QUOTED_CHARACTERS
    if (isSpeech && !isWhole)
      spans.push({ start: match.index, end: match.index + match[0].length, reason: 'injected_text' })
  }
  for (const match of text.matchAll(INTRODUCED)) {
    if (asksToRemember(match[0])) continue
    const start = match.index + match[0].length
    const paragraph = text.indexOf('\n\n', start)
    spans.push({ start, end: paragraph < 0 ? text.length : paragraph, reason: 'injected_text' })
  }
  for (const sentence of sentencesOf(text)) {
    const work = startOfWork(sentence)
    if (work === null) continue
    // In "Translate this: …", the text continues past its sentence.
    const colon = /:\s*$|:\s/u.exec(sentence.text.slice(work))
    spans.push({
      start: sentence.start + work,
      end: colon ? text.length : sentence.end,
      reason: 'dictated_text',
    })
  }
  return spans
}

const POLITE =
  /^(?:(?:please|pls|kindly|now|ok|okay|hey|hi|so|and|then|also|delegate|bitte|s'il te plaît|por favor|per favore|пожалуйста|请|請)[ ,]+|(?:can|could|would|will) you (?:please )?|(?:kannst|könntest) du (?:bitte )?|(?:peux|pourrais)-tu |(?:puedes|podrías) |(?:puoi|potresti) |i(?:'d like| want| need) you to |help me (?:to )?)*/u

/** Where the text to work on begins; null if the sentence asks for no such work. */
function startOfWork({ text }: Span): number | null {
  const start = POLITE.exec(text)?.[0].length ?? 0
  const rest = text.slice(start)
  if (asksToRemember(rest)) return null
  const { dictating } = lexiconOf(languageOf(text))
  const at = rest.search(dictating)
  return at === 0 ? start : null
}

const OPENING =
  /^(?:(?:please|pls|kindly|now|ok|okay|hey|hi|hello|so|and|also|then|oh|yes|yeah|well|delegate|bitte|also|ja|s'il te plaît|oui|por favor|sí|per favore|пожалуйста|да|请|請)[ ,:!.]+|(?:can|could|would|will) you (?:please )?|you (?:should|can) |i(?:'d like| want| need) you to |kannst du (?:bitte )?|peux-tu |puedes |puoi |just )*/u

/** Whether folded text asks to remember something. What follows is then the owner's statement. */
export function asksToRemember(text: string): boolean {
  const { remembering, code } = lexiconOf(languageOf(text))
  // In these languages, the verb may end the sentence.
  if (code === 'zh' || code === 'ja' || code === 'th' || code === 'ko' || code === 'hi')
    return occurs(remembering, text)
  const start = OPENING.exec(text.trim())?.[0].length ?? 0
  return text.trim().slice(start).search(remembering) === 0
}
