import { showsApp } from './app-pages.ts'

declare const self: ServiceWorkerGlobalScope

/** Removes what still shows words of the owner: notifications, and windows without the app, such as one of a note. */
export async function signedOut(): Promise<void> {
  for (const notification of await self.registration.getNotifications()) notification.close()
  const windows = await self.clients.matchAll({ type: 'window' })
  await Promise.all(windows.filter((window) => !showsApp(window)).map((window) => window.navigate('/login')))
}
