import { css, html, nothing } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import { english } from '../../../src/language/message.ts'
import { AppElement } from '../app/app-element.ts'
import { Loaded } from '../app/loaded.ts'
import type { IconName } from '../design/icon.ts'
import { locale, msg, translated } from '../design/msg.ts'
import { builtinModel } from './service-words.ts'

const firstMessages = {
  memory: ['brain', english`Remember that I take my coffee black`],
  note: ['note', english`Make a note: ideas for the garden`],
  time: ['timer', english`What time is it?`],
  help: ['help', english`What can you do for me?`],
} as const satisfies Record<string, readonly [IconName, string]>

/** Offers messages to begin with, in a language that the chat model knows. Fires `say` with the chosen one. */
@customElement('dg-first-messages')
export class DgFirstMessages extends AppElement {
  static override readonly styles = css`
    :host {
      display: grid;
      grid-template-columns: repeat(auto-fit, minmax(min(15rem, 100%), 1fr));
      gap: var(--space-3);
    }
    .choice {
      grid-template-columns: auto minmax(0, 1fr);
      gap: 0 var(--space-3);
      align-items: start;
    }
    .choice:hover {
      border-color: var(--line-strong);
      box-shadow: var(--shadow-low);
    }
    dg-icon {
      margin-top: 0.15em;
      color: var(--accent);
    }
    p {
      grid-column: 1 / -1;
      margin: 0;
      color: var(--ink-soft);
    }
  `
  @property({ attribute: false }) names: readonly (keyof typeof firstMessages)[] = []
  @property({ type: Boolean }) busy = false
  /** Whether the model that answers knows only English, and the page is in another language. */
  private readonly onlyEnglish = new Loaded<boolean>(this, { fetch: (signal) => this.fetch(signal) })

  private async fetch(signal: AbortSignal): Promise<boolean> {
    if (locale.startsWith('en-')) return false
    const { uses } = await this.app.http.get('/api/services', { signal })
    return uses.find(({ use }) => use === 'chat')?.model === builtinModel
  }

  override render() {
    const { value: onlyEnglish, problem } = this.onlyEnglish
    if (onlyEnglish === null && problem === '') return nothing
    return html`${this.names.map((name) => {
      const [icon, text] = firstMessages[name]
      const shown = onlyEnglish ? text : translated(text)
      const say = () => this.dispatchEvent(new CustomEvent('say', { detail: shown }))
      return html`<button class="choice" type="button" ?disabled=${this.busy} @click=${say}>
        <dg-icon name=${icon}></dg-icon>
        <span lang=${onlyEnglish ? 'en' : nothing}>${shown}</span>
      </button>`
    })}
    ${onlyEnglish ? html`<p>${msg`Without a model service, Delegate knows only English.`}</p>` : nothing}`
  }
}
