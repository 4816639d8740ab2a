import texts from 'virtual:german'
import { createTranslate } from '../../../src/language/message.ts'
import { createSentences } from '../../../src/language/sentences.ts'

globalThis.delegateLanguage = {
  locale: 'de-DE',
  translate: createTranslate(texts),
  translateSentence: createSentences(texts),
}
