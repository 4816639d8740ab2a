import { createMsg, createTranslate, type Translate } from '../../src/language/message.ts'
import { pseudoTexts } from '../../src/language/pseudo.ts'

/** The texts of the worker; see scripts/lib/build-worker.ts. */
declare const GERMAN_TEXTS: Readonly<Record<string, string>>

const CACHE = 'delegate-language'
const translates: Readonly<Record<string, Translate>> = {
  de: createTranslate(GERMAN_TEXTS),
  'en-XA': createTranslate(pseudoTexts(GERMAN_TEXTS)),
}

/** Remembers the language of a page that the service sent: offline, its page and the notifications are in it. */
export async function rememberLanguage({ headers }: Response): Promise<void> {
  const language = headers.get('content-language')
  if (language === null || language === (await lastLanguage())) return
  await (await caches.open(CACHE)).put('/', new Response(language))
}

/** The language of the last page; empty if there was none. */
export const lastLanguage = async (): Promise<string> =>
  (await (await caches.open(CACHE)).match('/'))?.text() ?? ''

/** The tag for texts in the language of the last page. */
export const messages = async () => createMsg(translates[await lastLanguage()] ?? ((english) => english))
