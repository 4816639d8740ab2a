import { type Language, languageOf } from '../language/languages.ts'
import type { Documents } from './factor-store.ts'
import type { Settings } from './settings.ts'

const DOCUMENT = 'browser-language'

export type OwnerLanguage = ReturnType<typeof createOwnerLanguage>

/** The language of the owner: the one of the setting, else that of each browser. */
export function createOwnerLanguage(options: {
  readonly documents: Documents
  readonly settings: Pick<Settings, 'get'>
}) {
  const { documents, settings } = options
  let ofBrowser = documents.document(DOCUMENT) ?? 'en'

  return {
    /** The language of a request, by its Accept-Language. */
    ofRequest: (accepted: string | undefined): Language => languageOf(settings.get('LANGUAGE'), accepted),
    /** Remembers the language of a page that the owner opened. */
    saw(language: Language): void {
      if (language === ofBrowser || settings.get('LANGUAGE') !== 'browser') return
      ofBrowser = language
      documents.writeDocument(DOCUMENT, language)
    },
    /** What the service writes and says on its own is in the chosen language, else in that of the last page. */
    current(): Language {
      const chosen = settings.get('LANGUAGE')
      return languageOf('browser', chosen === 'browser' ? ofBrowser : chosen)
    },
  }
}
