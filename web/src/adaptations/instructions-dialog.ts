import { css, html } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import type { AdaptationChannel } from '../../../src/http/contract/adaptations.ts'
import { DialogElement } from '../app/dialog-element.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { msg } from '../design/msg.ts'
import { adaptationChannels, channelLabels } from './adaptation-dialog.ts'

/** The exact instructions that the model gets, for each channel. */
@customElement('dg-instructions-dialog')
export class DgInstructionsDialog extends DialogElement {
  static override readonly styles = css`
    .actions,
    .soft {
      margin-bottom: var(--space-3);
    }
    pre {
      min-height: 12rem;
      font-family: var(--font);
    }
  `
  @state() private channel: AdaptationChannel = 'chat'
  private readonly preview = new Loaded(this, {
    fetch: (signal) =>
      this.app.http.get('/api/adaptations.preview', { query: { channel: this.channel }, signal }),
  })

  private show(channel: AdaptationChannel): void {
    this.channel = channel
    this.preview.put(null)
    void this.preview.reload()
  }

  override render() {
    return html`<dg-dialog heading=${msg`Instructions for the model`} wide>
      <p class="soft">${msg`The exact text that precedes the conversation, from the next turn on.`}</p>
      <div class="actions" role="group" aria-label=${msg`Channel`}>
        ${adaptationChannels.map(
          (channel) => html`<button
            class="button small"
            aria-pressed=${this.channel === channel}
            @click=${() => this.show(channel)}
          >
            ${channelLabels[channel]}
          </button>`,
        )}
      </div>
      ${loadedView(
        this.preview,
        msg`the instructions`,
        ({ instructions }) =>
          html`<pre tabindex="0" role="region" aria-label=${msg`Instructions`}>${instructions}</pre>`,
      )}
    </dg-dialog>`
  }
}
