import type { IconName } from '../design/icon.ts'

export type NavigationEntry = {
  readonly path: string
  readonly label: string
  readonly icon: IconName
  /** A route that the service may lack: the page is listed where its description names it. */
  readonly needs?: string
}

/** The pages of the shell, in the order of the navigation. A page is listed once it exists. */
export const navigation: readonly NavigationEntry[] = [
  { path: '/', label: 'Timeline', icon: 'timeline' },
  { path: '/memories', label: 'Memories', icon: 'brain', needs: '/api/memories' },
  { path: '/timers', label: 'Timers', icon: 'timer' },
]
