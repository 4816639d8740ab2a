import { css, html, LitElement, nothing, type PropertyValues } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import type { App } from '../app/app.ts'
import {
  type Adaptation,
  type AdaptationChannel,
  adaptationChannels,
  saveAdaptation,
} from '../data/adaptations.ts'
import { explain, Refused } from '../data/http.ts'
import { controls } from '../design/controls.ts'
import '../design/dialog.ts'
import { fieldView, focusFirstWrong, problemView } from '../design/field.ts'

const channelLabels: Readonly<Record<AdaptationChannel, string>> = {
  chat: 'Chat',
  voice: 'Phone',
  sms: 'Text messages',
}

/** Creates or edits a standing instruction. Fires `saved`; stays open with the reason if that fails. */
@customElement('dg-adaptation-dialog')
export class DgAdaptationDialog extends LitElement {
  static override readonly styles = [
    controls,
    css`
      form {
        display: grid;
        gap: var(--space-4);
      }
      textarea.input {
        min-height: 11rem;
        line-height: 1.55;
        resize: vertical;
      }
      legend {
        padding: 0;
      }
      .channels {
        display: flex;
        flex-wrap: wrap;
        gap: var(--space-2) var(--space-4);
        margin-top: var(--space-1);
      }
      .channels label {
        display: inline-flex;
        align-items: center;
        gap: var(--space-2);
        min-height: 2rem;
        cursor: pointer;
      }
      input[type='checkbox'] {
        width: 1.125rem;
        height: 1.125rem;
        margin: 0;
        accent-color: var(--accent);
      }
      .actions {
        display: flex;
        justify-content: flex-end;
        gap: var(--space-2);
      }
    `,
  ]
  @property({ attribute: false }) app!: App
  @property({ attribute: false }) edited: Adaptation | 'new' | null = null
  @property({ attribute: false }) taken: ReadonlySet<string> = new Set()
  @state() private busy = false
  @state() private problem = ''
  @state() private errors: Readonly<Record<string, string>> = {}

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('edited')) return
    this.problem = ''
    this.errors = {}
  }

  private readonly closed = (): void => {
    this.dispatchEvent(new Event('close'))
  }

  private readonly submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const { edited } = this
    if (!(event.target instanceof HTMLFormElement) || this.busy || edited === null) return
    const form = new FormData(event.target)
    const title = String(form.get('title') ?? '').trim()
    const content = String(form.get('content') ?? '').trim()
    const channels = adaptationChannels.filter((channel) => form.has(channel))
    this.errors = {
      ...(title === '' ? { title: 'Enter a name.' } : {}),
      ...(content === '' ? { content: 'Describe what Delegate should do.' } : {}),
      ...(channels.length === 0
        ? { channels: 'Choose at least one channel. To pause the instruction, switch it off.' }
        : {}),
    }
    if (Object.keys(this.errors).length > 0) return focusFirstWrong(this)
    this.busy = true
    this.problem = ''
    try {
      const id = edited === 'new' ? freeId(title, this.taken) : edited.id
      await saveAdaptation(this.app.http, id, { title, content, channels })
      this.app.toast('Saved. Takes effect on the next turn.')
      this.closed()
      this.dispatchEvent(new Event('saved'))
    } catch (error) {
      const fields = error instanceof Refused ? error.problem.errors : []
      this.errors = Object.fromEntries(fields.map(({ path, message }) => [path, message]))
      if (fields.length === 0) this.problem = explain(error)
      void focusFirstWrong(this)
    } finally {
      this.busy = false
    }
  }

  override render() {
    const { edited, errors } = this
    const present = edited === 'new' ? null : edited
    const heading = present ? 'Edit instruction' : 'New instruction'
    return html`<dg-dialog heading=${heading} .open=${edited !== null} @close=${this.closed}>
      ${edited === null ? nothing : this.formView(present, errors)}
    </dg-dialog>`
  }

  private formView(present: Adaptation | null, errors: Readonly<Record<string, string>>) {
    const channels = present?.channels ?? adaptationChannels
    return html`<form novalidate @submit=${(event: SubmitEvent) => void this.submit(event)}>
      ${fieldView({ name: 'title', label: 'Name', value: present?.title ?? '', placeholder: 'Tone of voice', error: errors.title })}
      <div class="field">
        <label for="content">What Delegate should do</label>
        <textarea
          class="input"
          id="content"
          name="content"
          placeholder="Be brief. Use metric units. Never suggest a phone call before ten."
          aria-invalid=${errors.content ? 'true' : 'false'}
          aria-describedby="content-notes"
          .value=${present?.content ?? ''}
        ></textarea>
        <div id="content-notes">${errorView(errors.content)}</div>
      </div>
      <fieldset class="field" aria-describedby="channels-notes">
        <legend class="label">Applies to</legend>
        <div class="channels">
          ${adaptationChannels.map(
            (channel) => html`<label>
              <input
                type="checkbox"
                name=${channel}
                .checked=${channels.includes(channel)}
                aria-invalid=${errors.channels ? 'true' : 'false'}
              />
              ${channelLabels[channel]}
            </label>`,
          )}
        </div>
        <div id="channels-notes">${errorView(errors.channels)}</div>
      </fieldset>
      ${
        present?.source === 'file'
          ? html`<p class="hint">Loaded from ${present.id}.md. Your changes apply until the file changes.</p>`
          : nothing
      }
      ${problemView(this.problem)}
      <div class="actions">
        <button class="button" type="button" @click=${this.closed}>Cancel</button>
        <button class="button primary" ?disabled=${this.busy}>${this.busy ? 'Saving…' : 'Save'}</button>
      </div>
    </form>`
  }
}

function errorView(error: string | undefined) {
  return error
    ? html`<div class="error"><dg-icon name="warning"></dg-icon><span>${error}</span></div>`
    : nothing
}

/** An unused id for URLs and file names: "Tone of voice" → "tone-of-voice". */
function freeId(title: string, taken: ReadonlySet<string>): string {
  const base =
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
      .replaceAll(/^-|-$/g, '')
      .slice(0, 60) || 'instruction'
  for (let number = 2, id = base; ; number += 1) {
    if (!taken.has(id)) return id
    id = `${base}-${number}`
  }
}
