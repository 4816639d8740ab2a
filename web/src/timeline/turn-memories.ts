import { css, html, LitElement, nothing } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { TurnMemory } from '../../../src/http/contract/session.ts'
import { explain } from '../api/http.ts'

/** The memories recalled for a reply. */
@customElement('dg-turn-memories')
export class DgTurnMemories extends LitElement {
  static override readonly styles = css`
    :host {
      display: block;
      margin-top: var(--space-2);
    }
    p {
      margin: 0;
      color: var(--ink-soft);
    }
    ul {
      margin: var(--space-1) 0 0;
      padding-inline-start: 1.2em;
    }
  `
  @property() turnId!: string
  @property({ attribute: false }) load!: (turnId: string) => Promise<readonly TurnMemory[]>
  @state() memories: readonly TurnMemory[] | null = null
  @state() problem = ''

  override firstUpdated(): void {
    void this.fetch()
  }

  private async fetch(): Promise<void> {
    try {
      this.memories = await this.load(this.turnId)
    } catch (error) {
      this.problem = explain(error)
    }
  }

  override render() {
    if (this.problem !== '') return html`<p>Could not load the recalled memories. ${this.problem}</p>`
    if (this.memories === null) return html`<p>Loading recalled memories…</p>`
    if (this.memories.length === 0) return nothing
    return html`<p>Recalled memories</p>
      <ul>
        ${this.memories.map((memory) => html`<li>${memory.text ?? 'A memory that has since been forgotten'}</li>`)}
      </ul>`
  }
}
