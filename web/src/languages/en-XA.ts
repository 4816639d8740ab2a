import german from 'virtual:german'
import { createTranslate } from '../../../src/language/message.ts'
import { pseudoTexts } from '../../../src/language/pseudo.ts'
import { createSentences } from '../../../src/language/sentences.ts'

const texts = pseudoTexts(german)

globalThis.delegateLanguage = {
  locale: 'en-GB',
  translate: createTranslate(texts),
  translateSentence: createSentences(texts),
}
