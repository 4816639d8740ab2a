import { css, html, nothing, type TemplateResult } from 'lit'
import type { SearchHit } from '../../../src/http/contract/timeline.ts'
import type { Timer } from '../../../src/http/contract/timers.ts'
import type { App } from '../app/app.ts'
import { foreignText, titleText } from '../data/words.ts'
import { fullTimeText, shortDateText, wordsText } from '../design/format.ts'
import type { IconName } from '../design/icon.ts'
import { msg } from '../design/msg.ts'

/** What matches beside the timeline, of one kind: the first few, and the page of all if there are more. */
export type SearchGroup = {
  readonly icon: IconName
  readonly heading: string
  readonly hits: readonly GroupHit[]
  readonly allPath: string | null
}

type GroupHit = { readonly words: string; readonly what: string; readonly at: string; readonly path: string }

const groupSize = 3

export const groupStyles = css`
  .group {
    display: flex;
    align-items: baseline;
    justify-content: space-between;
    gap: var(--space-3);
    margin: var(--space-2) var(--space-3) 0;
  }
  .group h3 {
    margin: 0;
  }
  .group a {
    font-size: var(--text-sm);
  }
`

/** Memories, reminders and imported conversations that match. */
export async function searchGroups(app: App, q: string, signal: AbortSignal): Promise<SearchGroup[]> {
  const asked = { query: { q, limit: groupSize }, signal }
  const [memories, timers, imported] = await Promise.all([
    app.http.get('/api/memories', asked),
    app.http.get('/api/timers', asked),
    app.http.get('/api/imported', asked),
  ])
  const memoriesPath = `/memories?q=${encodeURIComponent(q)}`
  const groups: SearchGroup[] = [
    {
      icon: 'brain',
      heading: msg`Memories`,
      hits: memories.memories.map(({ text, kind, createdAt }) => {
        return { words: text, what: wordsText(kind), at: createdAt, path: memoriesPath }
      }),
      allPath: memories.nextCursor && memoriesPath,
    },
    {
      icon: 'timer',
      heading: msg`Reminders`,
      hits: timers.timers.map(({ id, title, status, dueAt }) => {
        return { words: title, what: statuses[status], at: dueAt, path: `/timers#${encodeURIComponent(id)}` }
      }),
      allPath: timers.nextCursor && '/timers',
    },
    {
      icon: 'chat',
      heading: msg`Imported conversations`,
      hits: imported.conversations.map(({ id, title, snippet = '', lastAt }) => {
        const path = `/imported/read?id=${encodeURIComponent(id)}`
        return { words: foreignText(snippet), what: titleText(title), at: lastAt, path }
      }),
      allPath: imported.nextCursor && `/imported?q=${encodeURIComponent(q)}`,
    },
  ]
  return groups.filter(({ hits }) => hits.length > 0)
}

const statuses = {
  active: msg`Reminder`,
  done: msg`Past reminder`,
  cancelled: msg`Cancelled reminder`,
} as const satisfies Record<Timer['status'], string>

/** Hits on the timeline without memories and reminders that a group lists. */
export function besideGroups(hits: readonly SearchHit[], groups: readonly SearchGroup[]): SearchHit[] {
  const listed = new Set(
    groups.flatMap(({ icon, hits }) => (icon === 'chat' ? [] : hits.map(({ words }) => words))),
  )
  return hits.filter(
    ({ type, snippet }) => !/^(?:memory\.stored|timer\.set)$/.test(type) || !listed.has(snippet),
  )
}

/** A group of hits, each of which `open` opens by its path. */
export function groupView(
  { icon, heading, hits, allPath }: SearchGroup,
  open: (path: string) => void,
): TemplateResult {
  return html`
    <div class="group">
      <h3 class="subhead">${heading}</h3>
      ${allPath === null ? nothing : html`<a href=${allPath}>${msg`Show all`}</a>`}
    </div>
    <ul class="list" aria-label=${heading}>
      ${hits.map(({ words, what, at, path }) => hitView(icon, words, what, at, () => open(path)))}
    </ul>
  `
}

/** A hit of any kind. */
export function hitView(
  icon: IconName,
  words: unknown,
  what: string,
  at: string,
  choose: () => void,
): TemplateResult {
  return html`<li>
    <button class="hit flat" @click=${choose}>
      <dg-icon name=${icon}></dg-icon>
      <span class="snippet clamped">${words}</span>
      <span class="facts">
        <bdi>${what}</bdi><time datetime=${at} title=${fullTimeText(at)}>${shortDateText(at)}</time>
      </span>
    </button>
  </li>`
}
