import { defineConfig } from 'vite'
import { otherLanguages, pageLanguages } from '../scripts/lib/page-languages.ts'

const service = `http://127.0.0.1:${process.env.PORT ?? '8081'}`
const servicePaths = [
  '/api',
  '/auth/status',
  '/login',
  '/logout',
  '/install',
  '/health',
  '/ready',
  '/docs',
  '/build-info.json',
  '/public-url',
]
/** Paths that are a page when a browser opens them and a call otherwise. */
const pagePaths = ['/login', '/install']

/** What all elements extend, and the small modules that most pages share. */
const common = [
  'app/submission',
  'app/app-element',
  'app/dialog-element',
  'app/light-element',
  'design/bar',
  'design/blocks',
  'design/cards',
  'design/checklist',
  'design/controls',
  'design/dialog',
  'design/forms',
  'design/icon-button',
  'design/styled-element',
  'design/while-connected',
  'design/menu',
  'design/prose',
  'design/page',
  'design/format',
  'design/keyed-rows',
  'design/owner-time',
  'timeline/context-words',
  'timeline/titles',
]

/**
 * `npm run build:web` writes web/dist. In development, `npm run dev` serves the pages and forwards all other
 * requests to the running service.
 */
export default defineConfig({
  root: import.meta.dirname,
  appType: 'spa',
  plugins: [pageLanguages()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // The design system needs light-dark(), oklch() and the popover attribute.
    target: ['chrome123', 'edge123', 'firefox128', 'safari17.5'],
    // A data: URI would need a wider content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
    rolldownOptions: {
      // A slow machine is not worth a warning at the first start.
      checks: { bundlerTimings: false },
      input: [
        'index.html',
        'waiting.html',
        'src/note.css',
        ...otherLanguages.map((language) => `src/languages/${language}.ts`),
      ].map((file) => `${import.meta.dirname}/${file}`),
      output: {
        // The service links to note.css by name from the pages that it renders.
        assetFileNames: ({ names }) =>
          names.includes('note.css') ? 'note.css' : 'assets/[name]-[hash][extname]',
        codeSplitting: {
          // Loads them in one request.
          includeDependenciesRecursively: false,
          groups: [
            // What the classes of the other modules extend and are decorated with.
            { name: 'lit', test: /node_modules\/(?:@lit|lit)|@oxc-project.runtime/ },
            { name: 'common', test: (id) => common.some((name) => id.includes(`/src/${name}.`)) },
          ],
        },
      },
    },
  },
  server: {
    host: '127.0.0.1',
    proxy: {
      ...Object.fromEntries(
        servicePaths.map((path) => [
          path,
          {
            target: service,
            bypass: (request: { method?: string; url?: string }) =>
              pagePaths.includes(path) && request.method === 'GET' ? request.url : undefined,
          },
        ]),
      ),
      '/chat': { target: service, ws: true },
      '/api/talk': { target: service, ws: true },
    },
  },
})
