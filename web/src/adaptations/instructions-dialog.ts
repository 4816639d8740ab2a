import { css, html } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { AdaptationChannel } from '../../../src/http/contract/adaptations.ts'
import { explain } from '../api/http.ts'
import type { App } from '../app/app.ts'
import { controls } from '../design/controls.ts'
import { DialogElement } from '../design/dialog.ts'
import { problemView } from '../design/field.ts'
import { adaptationChannels } from './adaptation-dialog.ts'

const labels: Readonly<Record<AdaptationChannel, string>> = { chat: 'Chat', voice: 'Phone', sms: 'Text' }

/** The exact instructions that the model gets, for each channel. */
@customElement('dg-instructions-dialog')
export class DgInstructionsDialog extends DialogElement {
  static override readonly styles = [
    controls,
    css`
      .actions,
      .soft {
        margin-bottom: var(--space-3);
      }
      pre {
        min-height: 12rem;
        font-family: var(--font);
      }
    `,
  ]
  @property({ attribute: false }) app!: App
  @state() private channel: AdaptationChannel = 'chat'
  @state() private text: string | null = null
  @state() private problem = ''

  protected override firstUpdated(): void {
    void this.show(this.channel)
  }

  private async show(channel: AdaptationChannel): Promise<void> {
    this.channel = channel
    this.text = null
    this.problem = ''
    try {
      const { instructions } = await this.app.http.get('/api/adaptations.preview', { query: { channel } })
      if (this.channel === channel) this.text = instructions
    } catch (error) {
      if (this.channel === channel) this.problem = explain(error)
    }
  }

  override render() {
    return html`<dg-dialog heading="Instructions for the model" wide>
      <p class="soft">The exact text that precedes the conversation, from the next turn on.</p>
      <div class="actions" role="group" aria-label="Channel">
        ${adaptationChannels.map(
          (channel) => html`<button
            class="button small"
            aria-pressed=${this.channel === channel}
            @click=${() => void this.show(channel)}
          >
            ${labels[channel]}
          </button>`,
        )}
      </div>
      ${problemView(this.problem)}
      ${
        this.problem === ''
          ? html`<pre tabindex="0" role="region" aria-label="Instructions" aria-busy=${this.text === null}>${this.text ?? ''}</pre>`
          : ''
      }
    </dg-dialog>`
  }
}
