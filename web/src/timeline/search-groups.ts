import { css, html, nothing, type TemplateResult } from 'lit'
import type { ImportedConversation } from '../../../src/http/contract/imports.ts'
import type { Memory } from '../../../src/http/contract/memories.ts'
import type { SearchHit } from '../../../src/http/contract/timeline.ts'
import type { Timer } from '../../../src/http/contract/timers.ts'
import type { App } from '../app/app.ts'
import { foreignText, titleText } from '../data/words.ts'
import { fullTimeText, shortDateText, wordsText } from '../design/format.ts'
import type { IconName } from '../design/icon.ts'
import { msg } from '../design/msg.ts'

/** What matches beside the timeline: the first few of each group, and whether there are more. */
export type SearchGroups = {
  readonly memories: readonly Memory[]
  readonly timers: readonly Timer[]
  readonly imported: readonly ImportedConversation[]
  readonly moreMemories: boolean
  readonly moreTimers: boolean
  readonly moreImported: boolean
}

export const noGroups: SearchGroups = {
  ...{ memories: [], timers: [], imported: [] },
  ...{ moreMemories: false, moreTimers: false, moreImported: false },
}

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
  const [memories, timers, imported] = await Promise.all([
    app.http.get('/api/memories', { query: { q, limit: groupSize }, signal }),
    app.http.get('/api/timers', { query: { q, limit: groupSize }, signal }),
    app.http.get('/api/imported', { query: { q, limit: groupSize }, signal }),
  ])
  return {
    memories: memories.memories,
    timers: timers.timers,
    imported: imported.conversations,
    moreMemories: memories.nextCursor !== null,
    moreTimers: timers.nextCursor !== null,
    moreImported: imported.nextCursor !== null,
  }
}

/** Hits on the timeline without those that only repeat what a group lists. */
export function besideGroups(hits: readonly SearchHit[], { memories, timers }: SearchGroups): SearchHit[] {
  const listed = new Set([...memories.map(({ text }) => text), ...timers.map(({ title }) => title)])
  return hits.filter(
    ({ type, snippet }) => !/^(?:memory\.stored|timer\.set)$/.test(type) || !listed.has(snippet),
  )
}

/** Memories, reminders and imported conversations, each of which `open` opens by its path. */
export function groupsView(
  { memories, timers, imported, moreMemories, moreTimers, moreImported }: SearchGroups,
  q: string,
  open: (path: string) => void,
): TemplateResult {
  const memoriesPath = `/memories?q=${encodeURIComponent(q)}`
  return html`
    ${groupView(
      msg`Memories`,
      memories.map(({ text, kind, createdAt }) =>
        hitView('brain', text, wordsText(kind), createdAt, () => open(memoriesPath)),
      ),
      moreMemories ? memoriesPath : null,
    )}
    ${groupView(
      msg`Reminders`,
      timers.map(({ id, title, status, dueAt }) =>
        hitView('timer', title, statuses[status], dueAt, () => open(`/timers#${encodeURIComponent(id)}`)),
      ),
      moreTimers ? '/timers' : null,
    )}
    ${groupView(
      msg`Imported conversations`,
      imported.map(({ id, title, snippet = '', lastAt }) =>
        hitView('chat', foreignText(snippet), titleText(title), lastAt, () =>
          open(`/imported/read?id=${encodeURIComponent(id)}`),
        ),
      ),
      moreImported ? `/imported?q=${encodeURIComponent(q)}` : null,
    )}
  `
}

const statuses = {
  active: msg`Reminder`,
  done: msg`Past reminder`,
  cancelled: msg`Cancelled reminder`,
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
      ${allPath === null ? nothing : html`<a href=${allPath}>${msg`Show all`}</a>`}
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
        <bdi>${what}</bdi><time datetime=${at} title=${fullTimeText(at)}>${shortDateText(at)}</time>
      </span>
    </button>
  </li>`
}
