import type { IconName } from '../design/icon.ts'

export type NavigationEntry = { readonly path: string; readonly label: string; readonly icon: IconName }

/** The pages of the shell, in the order of the navigation. A page is listed once it exists. */
export const navigation: readonly NavigationEntry[] = [
  { path: '/', label: 'Timeline', icon: 'timeline' },
  { path: '/timers', label: 'Timers', icon: 'timer' },
]
