import { readFileSync } from 'node:fs'
import type { Plugin } from 'vite'
import german from '../../src/language/de.json' with { type: 'json' }
import { type Language, translateTo } from '../../src/language/languages.ts'
import { english } from '../../src/language/message.ts'
import { pageTexts } from './texts.ts'

/** The languages that have a page and a script of their own; `web/src/languages` has their modules. */
export const otherLanguages = ['de', 'en-XA'] as const satisfies readonly Language[]

/** The texts of files without code. */
const FILE_TEXTS = [
  english`Delegate needs JavaScript to show your timeline.`,
  english`Delegate is waiting`,
  english`Delegate cannot answer yet.`,
  english`Events done`,
  english`This page opens Delegate by itself, as soon as it runs here.`,
  english`Your personal assistant: chat, notes, memories and reminders.`,
  english`New note`,
  english`Reminders`,
  english`Search`,
]

/**
 * Builds the pages in each language: `index.de.html` is `index.html` with a script that brings the German texts before
 * all others run. English needs no script, because the code has its texts.
 */
export function pageLanguages(): Plugin {
  return {
    name: 'page-languages',
    enforce: 'post',
    resolveId: { filter: { id: /^virtual:german$/ }, handler: (id) => `\0${id}` },
    load: {
      filter: { id: /^\0virtual:german$/ },
      handler: () => `export default ${JSON.stringify(germanOf(pageTexts()))}`,
    },
    /** `npm run dev` serves one language: that of the variable DELEGATE_LANGUAGE. */
    transformIndexHtml(page, { server }) {
      const language = otherLanguages.find((each) => each === process.env.DELEGATE_LANGUAGE)
      return server && language ? pageIn(page, language, `src/languages/${language}.ts`) : page
    },
    generateBundle(_options, bundle) {
      const files = Object.values(bundle)
      const manifest = readFileSync(new URL('../../web/public/manifest.webmanifest', import.meta.url), 'utf8')
      for (const language of otherLanguages) {
        const script = files.find((file) => file.type === 'chunk' && file.name === language)?.fileName
        const emit = (fileName: string, source: string) => this.emitFile({ type: 'asset', fileName, source })
        emit(`manifest.${language}.webmanifest`, inLanguage(manifest, language))
        for (const name of ['index', 'waiting']) {
          const page = bundle[`${name}.html`]
          if (page?.type !== 'asset') throw new Error(`${name}.html was not built`)
          const source = String(page.source).replace(
            '/manifest.webmanifest',
            `/manifest.${language}.webmanifest`,
          )
          emit(`${name}.${language}.html`, pageIn(source, language, name === 'index' ? script : undefined))
        }
      }
    },
  }
}

/** The part of the catalogue for these texts. */
export function germanOf(texts: ReadonlySet<string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(german).filter(([text, translation]) => translation && texts.has(text)),
  )
}

/** The page in another language, with the script that brings its texts before all others. */
function pageIn(page: string, language: Language, script?: string): string {
  const before = script === undefined ? '' : `<script type="module" src="/${script}"></script>\n    `
  return inLanguage(
    page.replace('lang="en"', `lang="${language}"`).replace('<script type="module"', `${before}$&`),
    language,
  )
}

function inLanguage(source: string, language: Language): string {
  return FILE_TEXTS.reduce((text, words) => text.replaceAll(words, translateTo(language, words)), source)
}
