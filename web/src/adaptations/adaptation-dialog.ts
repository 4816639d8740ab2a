import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import type { Adaptation, AdaptationChannel } from '../../../src/http/contract/adaptations.ts'
import { type Form, FormDialog, textIn } from '../app/form-dialog.ts'
import { freeName } from '../app/free-name.ts'
import { keep, kept } from '../app/tab-storage.ts'
import { areaView, fieldView, notesView } from '../design/field.ts'
import { msg } from '../design/msg.ts'

export const adaptationChannels: readonly AdaptationChannel[] = ['chat', 'voice', 'sms']

export const channelLabels: Readonly<Record<AdaptationChannel, string>> = {
  chat: msg`Chat`,
  voice: msg`Phone`,
  sms: msg`Text messages`,
}

/** Creates or edits a standing instruction. */
@customElement('dg-adaptation-dialog')
export class DgAdaptationDialog extends FormDialog {
  static override readonly styles = css`
    textarea.input {
      min-height: 11rem;
      line-height: 1.55;
    }
    legend {
      padding: 0;
    }
    .channels label {
      min-height: 2rem;
      cursor: pointer;
    }
  `
  @property({ attribute: false }) onSaved!: () => void
  /** Null for a new instruction. */
  @property({ attribute: false }) edited: Adaptation | null = null
  /** The ids of all instructions. */
  @property({ attribute: false }) taken: readonly string[] = []

  /** What was typed before the sign-in was lost. */
  private typed: { readonly title: string; readonly content: string } | null = null

  override connectedCallback(): void {
    super.connectedCallback()
    const key = `delegate.instruction-draft.${this.edited?.id ?? 'new'}`
    this.typed = kept(key)
    this.filled = this.typed !== null
    this.addEventListener('input', () => {
      const data = new FormData(this.renderRoot.querySelector('form') ?? undefined)
      keep(key, { title: textIn(data, 'title'), content: textIn(data, 'content') })
    })
    this.addEventListener('close', () => keep(key, null))
  }

  protected override submit(data: FormData): Promise<boolean> {
    const title = textIn(data, 'title')
    const content = textIn(data, 'content')
    const channels = adaptationChannels.filter((channel) => data.getAll('channels').includes(channel))
    return this.submission.send(
      async () => {
        const id = this.edited?.id ?? freeId(title, this.taken)
        await this.app.http.post('/api/adaptations/{id}', {
          params: { id },
          body: { title, content, channels },
        })
        this.app.toast(msg`Saved. Takes effect on the next turn.`)
        this.onSaved()
      },
      {
        title: title === '' && msg`Enter a name.`,
        content: content === '' && msg`Describe what Delegate should do.`,
        channels:
          channels.length === 0 && msg`Choose at least one channel. To pause the instruction, switch it off.`,
      },
    )
  }

  protected override form(): Form {
    const { edited } = this
    const shown = this.typed ?? edited
    const { errors } = this.submission
    return {
      heading: edited ? msg`Edit instruction` : msg`New instruction`,
      action: [msg`Save`, msg`Saving…`],
      fields: html`
        ${fieldView({ name: 'title', label: msg`Name`, value: shown?.title ?? '', placeholder: msg`Tone of voice`, error: errors.title })}
        ${areaView({
          name: 'content',
          label: msg`What Delegate should do`,
          value: shown?.content ?? '',
          placeholder: msg`Be brief. Use metric units. Never suggest a phone call before ten.`,
          error: errors.content,
        })}
        ${this.channelsView(errors.channels)}
        ${
          edited?.source === 'file'
            ? html`<p class="soft">${msg`Loaded from ${edited.id}.md. Your changes apply until the file changes.`}</p>`
            : nothing
        }
      `,
    }
  }

  private channelsView(error: string | undefined): TemplateResult {
    const chosen = this.edited?.channels ?? adaptationChannels
    return html`<fieldset class="field" aria-describedby="channels-notes">
      <legend class="label">${msg`Applies to`}</legend>
      <div class="actions channels">
        ${adaptationChannels.map(
          (channel) => html`<label class="beside">
            <input
              type="checkbox"
              name="channels"
              value=${channel}
              .checked=${chosen.includes(channel)}
              aria-invalid=${error ? 'true' : 'false'}
            />
            ${channelLabels[channel]}
          </label>`,
        )}
      </div>
      ${notesView({ name: 'channels', error })}
    </fieldset>`
  }
}

/** An unused id for URLs and file names: "Tone of voice" → "tone-of-voice". */
function freeId(title: string, taken: readonly string[]): string {
  const words = title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 60)
  return freeName(words || 'instruction', taken)
}
