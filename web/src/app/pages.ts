import { html, type TemplateResult } from 'lit'
import type { IconName } from '../design/icon.ts'
import type { App } from './app.ts'

/** Where a page stands in the navigation, and how it is reached without a pointer. */
export type Listing = {
  readonly icon: IconName
  readonly group: (typeof navigationGroups)[number]
  /** G, then this letter. */
  readonly key: string
}

export type Page = {
  /** The service answers it too: pages.ts there. */
  readonly path: string
  readonly title: string
  /** Its code is loaded when it is first shown. */
  readonly load: () => Promise<unknown>
  /** What it needs besides, and may be begun while its code is still on its way. */
  readonly prepare?: (app: App) => void
  readonly view: (app: App) => TemplateResult
  /** Absent: reached from other pages only, and shown in the navigation as part of `within`. */
  readonly listing?: Listing
  readonly within?: string
  /** Without the navigation around it: before the sign-in. */
  readonly alone?: true
  /** A form that leads in, once: the way back does not lead to it. */
  readonly entrance?: true
}

/** The groups of the navigation, from top to bottom, set apart from one another. */
export const navigationGroups = ['conversation', 'knowledge', 'work', 'house'] as const

/** The pages of this app, in the order of the navigation. A new page is one entry here. */
export const pages: readonly Page[] = [
  {
    path: '/',
    title: 'Timeline',
    listing: { icon: 'timeline', group: 'conversation', key: 't' },
    load: () => import('../pages/timeline-page.ts'),
    prepare: (app) => void app.chat(),
    view: (app) => html`<dg-timeline-page .app=${app}></dg-timeline-page>`,
  },
  {
    path: '/memories',
    title: 'Memories',
    listing: { icon: 'brain', group: 'knowledge', key: 'm' },
    load: () => import('../pages/memories-page.ts'),
    view: (app) => html`<dg-memories-page .app=${app}></dg-memories-page>`,
  },
  {
    path: '/settings/memory',
    title: 'Memory Insights',
    within: '/memories',
    load: () => import('../pages/memory-insights-page.ts'),
    view: (app) => html`<dg-memory-insights-page .app=${app}></dg-memory-insights-page>`,
  },
  {
    path: '/notes',
    title: 'Notes',
    listing: { icon: 'note', group: 'knowledge', key: 'n' },
    load: () => import('../pages/notes-page.ts'),
    view: (app) => html`<dg-notes-page .app=${app}></dg-notes-page>`,
  },
  {
    path: '/notes/edit',
    title: 'Note',
    within: '/notes',
    load: () => import('../pages/note-editor-page.ts'),
    view: (app) => html`<dg-note-editor-page .app=${app}></dg-note-editor-page>`,
  },
  {
    path: '/adaptations',
    title: 'Adaptations',
    listing: { icon: 'sliders', group: 'knowledge', key: 'a' },
    load: () => import('../pages/adaptations-page.ts'),
    view: (app) => html`<dg-adaptations-page .app=${app}></dg-adaptations-page>`,
  },
  {
    path: '/timers',
    title: 'Timers',
    listing: { icon: 'timer', group: 'work', key: 'i' },
    load: () => import('../pages/timers-page.ts'),
    view: (app) => html`<dg-timers-page .app=${app}></dg-timers-page>`,
  },
  {
    path: '/tasks',
    title: 'Tasks',
    listing: { icon: 'tool', group: 'work', key: 'k' },
    load: () => import('../pages/tasks-page.ts'),
    view: (app) => html`<dg-tasks-page .app=${app}></dg-tasks-page>`,
  },
  {
    path: '/operations',
    title: 'Operations',
    listing: { icon: 'chart', group: 'house', key: 'o' },
    load: () => import('../pages/operations-page.ts'),
    view: (app) => html`<dg-operations-page .app=${app}></dg-operations-page>`,
  },
  {
    path: '/settings',
    title: 'Settings',
    listing: { icon: 'settings', group: 'house', key: 's' },
    load: () => import('../pages/settings-page.ts'),
    view: (app) => html`<dg-settings-page .app=${app}></dg-settings-page>`,
  },
  {
    path: '/memory-config',
    title: 'Recall',
    within: '/settings',
    load: () => import('../pages/memory-config-page.ts'),
    view: (app) => html`<dg-memory-config-page .app=${app}></dg-memory-config-page>`,
  },
  {
    path: '/logs',
    title: 'Logs',
    listing: { icon: 'logs', group: 'house', key: 'l' },
    load: () => import('../pages/logs-page.ts'),
    view: (app) => html`<dg-logs-page .app=${app}></dg-logs-page>`,
  },
  {
    path: '/install',
    title: 'Set up',
    alone: true,
    entrance: true,
    load: () => import('../pages/install-page.ts'),
    view: (app) => html`<dg-install-page .app=${app}></dg-install-page>`,
  },
  {
    path: '/welcome',
    title: 'Set up',
    alone: true,
    load: () => import('../pages/welcome-page.ts'),
    view: (app) => html`<dg-welcome-page .app=${app}></dg-welcome-page>`,
  },
  {
    path: '/login',
    title: 'Sign in',
    alone: true,
    entrance: true,
    load: () => import('../pages/login-page.ts'),
    view: (app) => html`<dg-login-page .app=${app}></dg-login-page>`,
  },
]

/** `/install.html` is `/install`, `/index.html` is `/`. */
function canonical(path: string): string {
  const bare = path.replace(/\.html$/, '')
  return bare === '/index' || bare === '' ? '/' : bare
}

/** The page at an address of this app. */
export function pageAt(path: string): Page | undefined {
  const wanted = canonical(path)
  return pages.find((page) => page.path === wanted)
}
