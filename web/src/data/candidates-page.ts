import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement } from 'lit/decorators.js'
import type { Candidate, Readings } from '../../../src/http/contract/imports.ts'
import { AppElement } from '../app/app-element.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { type ListPage, moreView, PagedList } from '../app/paged-list.ts'
import { Picked, pickStyles } from '../app/picked.ts'
import { barView } from '../design/bar.ts'
import { plural, shortDateText, wordsText } from '../design/format.ts'
import { msg } from '../design/msg.ts'

const pageSize = 200
const runningMs = 1_500
/** The service takes at most this many at once. */
const mostIds = 500

type Page = ListPage<Candidate> & { readonly count: number }

/** What was found in imported conversations. It becomes a memory once the owner keeps it. */
@customElement('dg-candidates-page')
export class DgCandidatesPage extends AppElement {
  static override readonly styles = [
    pickStyles,
    css`
      .reading {
        gap: var(--space-2) var(--space-4);
        margin-bottom: var(--space-4);
        padding: var(--space-3) var(--space-4);
      }
      .reading > div {
        flex: 1 1 14rem;
      }
      .total {
        margin-bottom: var(--space-2);
      }
    `,
  ]
  private readonly picked = new Picked(this)
  private readonly candidates = new PagedList<Candidate, Page>(this, {
    fetch: async ({ signal, cursor }) => {
      const asked = { query: { limit: pageSize, ...(cursor === undefined ? {} : { cursor }) }, signal }
      const { candidates, ...rest } = await this.app.http.get('/api/imported.candidates', asked)
      return { items: candidates, ...rest }
    },
    concerns: (type) => type.startsWith('eras'),
  })
  private readonly readings = new Loaded<Readings>(this, {
    fetch: async (signal) => {
      const readings = await this.app.http.get('/api/imported.readings', { signal })
      if (readings.candidates !== this.candidates.value?.count) void this.candidates.reload()
      return readings
    },
    againMs: (value) => (value?.readings.some(({ state }) => state === 'running') ? runningMs : null),
  })

  private async decide(keep: boolean): Promise<void> {
    const ids = this.picked
      .of(this.candidates.items)
      .slice(0, mostIds)
      .map(({ id }) => id)
    await this.app.attempt(async () => {
      const { decided } = await this.app.http.post('/api/imported.candidates', { body: { ids, keep } })
      this.app.toast(
        keep ? msg`Kept ${plural(decided, msg`memory`, msg`memories`)}` : msg`Dropped ${decided}`,
      )
      this.picked.choose([])
      await this.candidates.restart()
    })
  }

  private readonly cancel = (id: string): void =>
    void this.app.attempt(async () => {
      await this.app.http.post('/api/imported.readings/{id}/cancel', { params: { id } })
      await this.readings.reload()
    })

  override render() {
    const { candidates } = this
    return html`<dg-page heading=${msg`Memories from imports`}>
      <a class="back" href="/data"><dg-icon name="chevron"></dg-icon>${msg`Your data`}</a>
      ${loadedView(this.readings, msg`the readings`, ({ readings }) => this.runningView(readings))}
      ${loadedView(candidates, msg`the candidates`, ({ items, count }) =>
        items.length === 0 ? this.emptyView() : this.listView(items, count),
      )}
    </dg-page>`
  }

  private runningView(readings: Readings['readings']): TemplateResult | typeof nothing {
    const running = readings.find(({ state }) => state === 'running')
    if (!running) return nothing
    const { id, read, requests } = running
    const percent = Math.floor((read / requests) * 100)
    return html`<div class="card actions reading">
      <div>
        <p role="status">${msg`Reading: ${read} of ${plural(requests, msg`part`, msg`parts`)}`}</p>
        ${barView(percent, msg`${percent} % read`)}
      </div>
      <button class="button small" @click=${() => this.cancel(id)}>${msg`Stop`}</button>
    </div>`
  }

  private emptyView(): TemplateResult {
    const [last] = this.readings.value?.readings ?? []
    if (last?.state === 'running') return html`<p class="soft">${msg`What is found appears here.`}</p>`
    return html`<dg-state icon="brain" heading=${msg`Nothing to decide on`}>
      <p>
        ${
          last
            ? msg`The last reading found ${plural(last.candidates, msg`memory`, msg`memories`)}.`
            : msg`Choose conversations to look for memories in.`
        }
        ${last?.failed ? msg`${plural(last.failed, msg`part`, msg`parts`)} could not be read.` : ''}
      </p>
      <a class="button primary" href="/imported">${msg`Imported conversations`}</a>
    </dg-state>`
  }

  private listView(items: readonly Candidate[], count: number): TemplateResult {
    const all = () => this.picked.choose(items.map(({ id }) => id))
    return html`
      <div class="actions total">
        <p class="facts">${msg`${count} found. Only what you keep becomes a memory.`}</p>
        <button class="button small" @click=${all}>${count > items.length ? msg`Select all shown` : msg`Select all`}</button>
      </div>
      <ul class="list cards" aria-label=${msg`Found memories`}>
        ${items.map((candidate) => this.candidateView(candidate))}
      </ul>
      ${moreView(this.candidates)} ${this.pickedView(items)}
    `
  }

  private candidateView(candidate: Candidate): TemplateResult {
    const { id, text, kind, quote, saidAt, importedId } = candidate
    return html`<li>
      ${this.picked.boxView(id, text)}
      <div class="what">
        <p>${text}</p>
        ${quote === text ? nothing : html`<p class="soft">“<bdi>${quote}</bdi>”</p>`}
        <p class="facts">
          <span>${wordsText(kind)}</span><time datetime=${saidAt}>${shortDateText(saidAt)}</time>
          <a href="/imported/read?id=${encodeURIComponent(importedId)}">${msg`Show source`}</a>
        </p>
      </div>
    </li>`
  }

  private pickedView(items: readonly Candidate[]): TemplateResult | typeof nothing {
    const buttons = html`
      <button class="button small" @click=${() => void this.decide(false)}>${msg`Drop`}</button>
      <button class="button primary small" @click=${() => void this.decide(true)}>${msg`Keep`}</button>
    `
    return this.picked.barView(msg`Selected memories`, this.picked.of(items).length, buttons)
  }
}
