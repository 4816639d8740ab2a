import { html, type TemplateResult } from 'lit'
import type { IconName } from '../design/icon.ts'
import { msg } from '../design/msg.ts'
import type { App } from './app.ts'

export type Page = {
  /** Must also be listed in the service's own pages.ts. */
  readonly path: string
  readonly title: string
  /** Imports the page's code on first use. */
  readonly load: () => Promise<unknown>
  readonly view: (app: App) => TemplateResult
  /** Its entry in the navigation. Absent for pages that are reached only from other pages. */
  readonly listing?: {
    readonly icon: IconName
    readonly group: (typeof navigationGroups)[number]
    /** Its keyboard shortcut, pressed after G. */
    readonly key: string
  }
  /** The listed page that is highlighted in the navigation while this one is shown. */
  readonly within?: string
  /** Shown without the navigation, before sign-in. */
  readonly alone?: true
  /** Replaced in the browser history on leaving, so that Back does not return to the form. */
  readonly entrance?: true
}

/** Navigation groups, from top to bottom. */
export const navigationGroups = ['conversation', 'knowledge', 'work', 'house'] as const

/** All pages of this app, in navigation order. */
export const pages: readonly Page[] = [
  {
    path: '/',
    title: msg`Timeline`,
    listing: { icon: 'timeline', group: 'conversation', key: 't' },
    load: () => import('../timeline/timeline-page.ts'),
    view: (app) => html`<dg-timeline-page .app=${app}></dg-timeline-page>`,
  },
  {
    path: '/memories',
    title: msg`Memories`,
    listing: { icon: 'brain', group: 'knowledge', key: 'm' },
    load: () => import('../memories/memories-page.ts'),
    view: (app) => html`<dg-memories-page .app=${app}></dg-memories-page>`,
  },
  {
    path: '/settings/memory',
    title: msg`Memory Insights`,
    within: '/memories',
    load: () => import('../memories/memory-insights-page.ts'),
    view: (app) => html`<dg-memory-insights-page .app=${app}></dg-memory-insights-page>`,
  },
  {
    path: '/notes',
    title: msg`Notes`,
    listing: { icon: 'note', group: 'knowledge', key: 'n' },
    load: () => import('../notes/notes-page.ts'),
    view: (app) => html`<dg-notes-page .app=${app}></dg-notes-page>`,
  },
  {
    path: '/notes/edit',
    title: msg`Note`,
    within: '/notes',
    load: () => import('../notes/note-editor-page.ts'),
    view: (app) => html`<dg-note-editor-page .app=${app}></dg-note-editor-page>`,
  },
  {
    path: '/adaptations',
    title: msg`Adaptations`,
    listing: { icon: 'sliders', group: 'knowledge', key: 'a' },
    load: () => import('../adaptations/adaptations-page.ts'),
    view: (app) => html`<dg-adaptations-page .app=${app}></dg-adaptations-page>`,
  },
  {
    path: '/timers',
    title: msg`Reminders`,
    listing: { icon: 'timer', group: 'work', key: 'i' },
    load: () => import('../timers/timers-page.ts'),
    view: (app) => html`<dg-timers-page .app=${app}></dg-timers-page>`,
  },
  {
    path: '/tasks',
    title: msg`Tasks`,
    listing: { icon: 'tool', group: 'work', key: 'k' },
    load: () => import('../tasks/tasks-page.ts'),
    view: (app) => html`<dg-tasks-page .app=${app}></dg-tasks-page>`,
  },
  {
    path: '/operations',
    title: msg`Operations`,
    listing: { icon: 'chart', group: 'house', key: 'o' },
    load: () => import('../operations/operations-page.ts'),
    view: (app) => html`<dg-operations-page .app=${app}></dg-operations-page>`,
  },
  {
    path: '/settings',
    title: msg`Settings`,
    listing: { icon: 'settings', group: 'house', key: 's' },
    load: () => import('../settings/settings-page.ts'),
    view: (app) => html`<dg-settings-page .app=${app}></dg-settings-page>`,
  },
  {
    path: '/memory-config',
    title: msg`Recall`,
    within: '/settings',
    load: () => import('../settings/memory-config-page.ts'),
    view: (app) => html`<dg-memory-config-page .app=${app}></dg-memory-config-page>`,
  },
  {
    path: '/data',
    title: msg`Your data`,
    within: '/settings',
    load: () => import('../data/data-page.ts'),
    view: (app) => html`<dg-data-page .app=${app}></dg-data-page>`,
  },
  {
    path: '/imported',
    title: msg`Imported conversations`,
    within: '/settings',
    load: () => import('../data/imported-page.ts'),
    view: (app) => html`<dg-imported-page .app=${app}></dg-imported-page>`,
  },
  {
    path: '/imported/read',
    title: msg`Imported conversation`,
    within: '/settings',
    load: () => import('../data/conversation-page.ts'),
    view: (app) => html`<dg-conversation-page .app=${app}></dg-conversation-page>`,
  },
  {
    path: '/imported/memories',
    title: msg`Memories from imports`,
    within: '/settings',
    load: () => import('../data/candidates-page.ts'),
    view: (app) => html`<dg-candidates-page .app=${app}></dg-candidates-page>`,
  },
  {
    path: '/security',
    title: msg`Security`,
    within: '/settings',
    load: () => import('../security/security-page.ts'),
    view: (app) => html`<dg-security-page .app=${app}></dg-security-page>`,
  },
  {
    path: '/logs',
    title: msg`Logs`,
    listing: { icon: 'logs', group: 'house', key: 'l' },
    load: () => import('../logs/logs-page.ts'),
    view: (app) => html`<dg-logs-page .app=${app}></dg-logs-page>`,
  },
  {
    path: '/install',
    title: msg`Set up`,
    alone: true,
    entrance: true,
    load: () => import('../setup/install-page.ts'),
    view: (app) => html`<dg-install-page .app=${app}></dg-install-page>`,
  },
  {
    path: '/welcome',
    title: msg`Set up`,
    alone: true,
    load: () => import('../setup/welcome-page.ts'),
    view: (app) => html`<dg-welcome-page .app=${app}></dg-welcome-page>`,
  },
  {
    path: '/login',
    title: msg`Sign in`,
    alone: true,
    entrance: true,
    load: () => import('../setup/login-page.ts'),
    view: (app) => html`<dg-login-page .app=${app}></dg-login-page>`,
  },
]

/** Maps `/install.html` to `/install` and `/index.html` to `/`. */
function canonical(path: string): string {
  const bare = path.replace(/\.html$/, '')
  return bare === '/index' || bare === '' ? '/' : bare
}

export function pageAt(path: string): Page | undefined {
  const wanted = canonical(path)
  return pages.find((page) => page.path === wanted)
}
