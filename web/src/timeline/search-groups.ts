import { css, html, nothing, type TemplateResult } from 'lit'
import type { Memory } from '../../../src/http/contract/memories.ts'
import type { SearchHit } from '../../../src/http/contract/timeline.ts'
import type { Timer } from '../../../src/http/contract/timers.ts'
import type { App } from '../app/app.ts'
import { fullTimeText, shortDateText, wordsText } from '../design/format.ts'
import type { IconName } from '../design/icon.ts'

/** What matches beside the timeline: the first few of each group, and whether there are more. */
export type SearchGroups = {
  readonly memories: readonly Memory[]
  readonly timers: readonly Timer[]
  readonly moreMemories: boolean
  readonly moreTimers: boolean
}

export const noGroups: SearchGroups = { memories: [], timers: [], moreMemories: false, moreTimers: false }

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
    color: var(--ink-soft);
    font-size: var(--text-sm);
    font-weight: 600;
  }
  .group a {
    font-size: var(--text-sm);
  }
`

export async function searchGroups(app: App, q: string, signal: AbortSignal): Promise<SearchGroups> {
  const [memories, timers] = await Promise.all([
    app.http.get('/api/memories', { query: { q, limit: groupSize }, signal }),
    app.http.get('/api/timers', { query: { q, limit: groupSize }, signal }),
  ])
  return {
    memories: memories.memories,
    timers: timers.timers,
    moreMemories: memories.nextCursor !== null,
    moreTimers: timers.nextCursor !== null,
  }
}

/** Hits on the timeline without those that only repeat what a group lists. */
export function besideGroups(hits: readonly SearchHit[], { memories, timers }: SearchGroups): SearchHit[] {
  const listed = new Set([...memories.map(({ text }) => text), ...timers.map(({ title }) => title)])
  return hits.filter(
    ({ type, snippet }) => !/^(?:memory\.stored|timer\.set)$/.test(type) || !listed.has(snippet),
  )
}

/** Memories and reminders, each of which `open` opens by its path. */
export function groupsView(
  { memories, timers, moreMemories, moreTimers }: SearchGroups,
  q: string,
  open: (path: string) => void,
): TemplateResult {
  const memoriesPath = `/memories?q=${encodeURIComponent(q)}`
  return html`
    ${groupView(
      'Memories',
      memories.map(({ text, kind, createdAt }) =>
        hitView('brain', text, wordsText(kind), createdAt, () => open(memoriesPath)),
      ),
      moreMemories ? memoriesPath : null,
    )}
    ${groupView(
      'Reminders',
      timers.map(({ id, title, status, dueAt }) =>
        hitView('timer', title, statuses[status], dueAt, () => open(`/timers#${encodeURIComponent(id)}`)),
      ),
      moreTimers ? '/timers' : null,
    )}
  `
}

const statuses = {
  active: 'Reminder',
  done: 'Past reminder',
  cancelled: 'Cancelled reminder',
} as const satisfies Record<Timer['status'], string>

function groupView(
  heading: string,
  hits: readonly TemplateResult[],
  allPath: string | null,
): TemplateResult | typeof nothing {
  if (hits.length === 0) return nothing
  return html`
    <div class="group">
      <h3>${heading}</h3>
      ${allPath === null ? nothing : html`<a href=${allPath}>Show all</a>`}
    </div>
    <ul class="list" aria-label=${heading}>
      ${hits}
    </ul>
  `
}

function hitView(
  icon: IconName,
  words: string,
  what: string,
  at: string,
  choose: () => void,
): TemplateResult {
  return html`<li>
    <button class="hit flat" @click=${choose}>
      <dg-icon name=${icon}></dg-icon>
      <span class="snippet clamped">${words}</span>
      <span class="facts">
        <span>${what}</span><time datetime=${at} title=${fullTimeText(at)}>${shortDateText(at)}</time>
      </span>
    </button>
  </li>`
}
