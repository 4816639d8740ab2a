import { css, html, LitElement, nothing } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import type { App } from '../app/app.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { controls } from '../design/controls.ts'

/** The memories recalled for a reply. */
@customElement('dg-turn-memories')
export class DgTurnMemories extends LitElement {
  static override readonly styles = [
    controls,
    css`
      :host {
        display: block;
        margin-top: var(--space-2);
      }
      ul {
        margin: var(--space-1) 0 0;
        padding-inline-start: 1.2em;
      }
    `,
  ]
  @property({ attribute: false }) app!: App
  @property() turnId!: string
  private readonly turn = new Loaded(this, {
    fetch: () => this.app.http.get('/api/turns/{id}', { params: { id: this.turnId } }),
  })

  override render() {
    return loadedView(this.turn, 'the recalled memories', ({ memories }) =>
      memories.length === 0
        ? nothing
        : html`<p class="soft">Recalled memories</p>
            <ul>
              ${memories.map(({ text }) => html`<li>${text ?? 'A memory that has since been forgotten'}</li>`)}
            </ul>`,
    )
  }
}
