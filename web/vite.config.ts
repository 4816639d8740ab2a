import { defineConfig } from 'vite'

const service = `http://127.0.0.1:${process.env.PORT ?? '8081'}`
const servicePaths = [
  '/api',
  '/auth/status',
  '/login',
  '/logout',
  '/health',
  '/build-info.json',
  '/public-url',
]

const commonModules =
  /src\/(?:design\/(?:menu|prose|cards|page)|view\/(?:context-words|format|keyed-rows|owner-time|relative-time)|timeline\/(?:setting-words|titles)|data\/(?:erasures|memories))\.(?:ts|css)/

/**
 * `npm run build:web` writes web/dist. In development (`vite web`) pages come from here and everything else
 * from the running service, so that the page is tried against the real thing.
 */
export default defineConfig({
  root: import.meta.dirname,
  appType: 'spa',
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // light-dark(), oklch() and the popover attribute: what the design system is written in.
    target: ['chrome123', 'edge123', 'firefox128', 'safari17.5'],
    // A data: URI would need a wider content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
    // By it the service says with each page which files the page is made of.
    manifest: 'modules.json',
    rolldownOptions: {
      input: ['index.html', 'src/note.css'].map((file) => `${import.meta.dirname}/${file}`),
      output: {
        // The service links it by its name: its page is none of the app's.
        assetFileNames: ({ names }) =>
          names.includes('note.css') ? 'note.css' : 'assets/[name]-[hash][extname]',
        codeSplitting: {
          // What most pages behind the sign-in have in common, small as it is, is one request and not one each.
          includeDependenciesRecursively: false,
          groups: [{ name: 'common', test: commonModules }],
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
            // The sign-in page and the sign-in call share a path: only the call goes to the service.
            bypass: (request: { method?: string; url?: string }) =>
              path === '/login' && request.method === 'GET' ? request.url : undefined,
          },
        ]),
      ),
      '/chat': { target: service, ws: true },
    },
  },
})
