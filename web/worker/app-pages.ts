/** Where a browser shows the app; see scripts/lib/build-worker.ts. */
declare const APP_PATHS: string[]

/** Whether a window shows the app. What the service renders itself has no code that could navigate. */
export const showsApp = ({ url }: WindowClient): boolean => APP_PATHS.includes(new URL(url).pathname)
