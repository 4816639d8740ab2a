import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import type { Adaptation, Reloaded } from '../../../src/http/contract/adaptations.ts'
import { AppElement } from '../app/app-element.ts'
import { askToErase } from '../app/erase-dialog.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { fullTimeText, plural, relativeText } from '../design/format.ts'
import { labelButton } from '../design/icon-button.ts'
import type { MenuItem } from '../design/menu.ts'
import { msg } from '../design/msg.ts'
import { switchStyles, switchView } from '../design/switch.ts'
import { channelLabels, DgAdaptationDialog } from './adaptation-dialog.ts'
import { DgInstructionsDialog } from './instructions-dialog.ts'

/** The owner's standing instructions, their channels, and a preview of what the model receives. */
@customElement('dg-adaptations-page')
export class DgAdaptationsPage extends AppElement {
  static override readonly styles = [
    switchStyles,
    css`
      .words {
        margin: 0.125rem 0 var(--space-1);
        color: var(--ink-soft);
        white-space: pre-line;
        -webkit-line-clamp: 3;
      }
      .off .open {
        color: var(--ink-soft);
        font-weight: 450;
      }
      .open {
        color: inherit;
        font: inherit;
        text-align: start;
      }
      .open:not(:hover) {
        text-decoration: none;
      }
      .files {
        margin-top: var(--space-5);
      }
      .files code {
        font: 0.95em var(--font-mono);
      }
      .files ul {
        margin: var(--space-2) 0 0;
        padding-inline-start: 1.2em;
      }
      .files .button,
      .files [role='status'] {
        margin-top: var(--space-3);
      }
    `,
  ]
  @state() private reloaded: Reloaded | null = null
  private readonly adaptations = new Loaded<readonly Adaptation[]>(this, {
    fetch: async (signal) => (await this.app.http.get('/api/adaptations', { signal })).adaptations,
    concerns: (type) => /^adaptation|^eras/.test(type),
  })

  private async attempt(act: () => Promise<void>): Promise<void> {
    await this.app.attempt(act)
    await this.adaptations.reload()
  }

  private change(adaptation: Adaptation, change: { readonly enabled: boolean }): void {
    void this.attempt(async () => {
      await this.app.http.post('/api/adaptations/{id}', { params: { id: adaptation.id }, body: change })
      this.app.announce(
        change.enabled
          ? msg`${adaptation.title} is on, from the next turn.`
          : msg`${adaptation.title} is off, from the next turn.`,
      )
    })
  }

  private discard(adaptation: Adaptation): void {
    void this.attempt(async () => {
      await this.app.http.del('/api/adaptations/{id}', { params: { id: adaptation.id } })
      const { id, title, content, enabled, channels } = adaptation
      const body = { title, content, enabled, channels }
      this.app.offerUndo(msg`Removed. Its text stays in the history.`, async () => {
        await this.app.http.post('/api/adaptations/{id}', { params: { id }, body })
        await this.adaptations.reload()
      })
    })
  }

  /** Opens the editor; null for a new instruction. */
  private edit(edited: Adaptation | null): void {
    const { adaptations } = this
    const taken = adaptations.value?.map(({ id }) => id) ?? []
    Object.assign(new DgAdaptationDialog(), { edited, taken, onSaved: adaptations.reload }).openIn(this)
  }

  private readonly preview = (): void => {
    new DgInstructionsDialog().openIn(this)
  }

  private items(adaptation: Adaptation): MenuItem[] {
    const isFile = adaptation.source === 'file'
    const erase = () =>
      askToErase(this, {
        heading: msg`Erase this instruction?`,
        target: { kind: 'adaptation', id: adaptation.id },
        ...(isFile ? { note: msg`Its file, ${adaptation.id}.md, is deleted with it.` } : {}),
        onChange: this.adaptations.reload,
      })
    return [
      { label: msg`Edit`, icon: 'edit', run: () => this.edit(adaptation) },
      ...(isFile
        ? []
        : [{ label: msg`Remove`, icon: 'trash', run: () => this.discard(adaptation) } as const]),
      { label: msg`Erase for good…`, icon: 'erased', danger: true, run: erase },
    ]
  }

  override render() {
    return html`<dg-page heading=${msg`Adaptations`}>
      <button slot="tools" class="button small" @click=${this.preview}>
        <dg-icon name="show"></dg-icon>${msg`Preview`}
      </button>
      <button slot="tools" class="button primary small" @click=${() => this.edit(null)}>
        <dg-icon name="plus"></dg-icon>${msg`New`}
      </button>
      ${loadedView(this.adaptations, msg`the instructions`, (items) => this.itemsView(items))}
    </dg-page>`
  }

  private itemsView(adaptations: readonly Adaptation[]): TemplateResult {
    if (adaptations.length === 0) {
      return html`
        <dg-state icon="sliders" heading=${msg`No standing instructions yet`}>
          <p>
            ${msg`Tell Delegate how to behave: its tone, what to leave out, what to call you. Instructions apply from the next turn on.`}
          </p>
          <button class="button primary" @click=${() => this.edit(null)}>${msg`Write an instruction`}</button>
        </dg-state>
        ${this.filesView()}
      `
    }
    return html`
      <p class="intro soft">${msg`Delegate follows these instructions in every turn on the channels you choose.`}</p>
      <ul class="list cards" aria-label=${msg`Standing instructions`}>
        ${adaptations.map((adaptation) => this.adaptationView(adaptation))}
      </ul>
      ${this.filesView()}
    `
  }

  private adaptationView(adaptation: Adaptation): TemplateResult {
    const { title, content, enabled, channels, source, updatedAt, id } = adaptation
    return html`<li class=${enabled ? '' : 'off'}>
      <div class="what">
        <p>
          <button class="link open" @click=${() => this.edit(adaptation)}>${title}</button>
        </p>
        <p class="words clamped">${content}</p>
        <p class="facts">
          ${channels.map((channel) => html`<span class="tag">${channelLabels[channel]}</span>`)}
          ${source === 'file' ? html`<span title=${msg`Read from the data directory`}>${id}.md</span>` : nothing}
          <time datetime=${updatedAt} title=${fullTimeText(updatedAt)}>${relativeText(updatedAt)}</time>
        </p>
      </div>
      ${switchView({
        label: msg`${title}: enabled`,
        checked: enabled,
        onChange: (checked) => this.change(adaptation, { enabled: checked }),
      })}
      <dg-menu label=${msg`More for ${title}`} .items=${this.items(adaptation)}></dg-menu>
    </li>`
  }

  private readonly reloadFiles = (): Promise<void> =>
    this.attempt(async () => {
      this.reloaded = await this.app.http.post('/api/adaptations.reload')
    })

  private filesView(): TemplateResult {
    const { reloaded } = this
    return html`<section class="files soft" aria-label=${msg`From files`}>
      <p>
        ${msg`Delegate also loads Markdown files from`} <code>adaptations/</code> ${msg`in the data directory. Their first lines can set`} <code>title</code>, <code>channels</code> ${msg`and`} <code>enabled</code>.
      </p>
      ${labelButton('retry', msg`Reload files`, this.reloadFiles)}
      <div role="status">
        ${
          reloaded
            ? html`<p>
                ${msg`${plural(reloaded.loaded, msg`file`, msg`files`)} loaded`}${reloaded.skipped.length > 0 ? msg`. Skipped:` : '.'}
              </p>`
            : nothing
        }
        ${
          reloaded && reloaded.skipped.length > 0
            ? html`<ul>
                ${reloaded.skipped.map(({ file, reason }) => html`<li><code>${file}</code>: ${reason}</li>`)}
              </ul>`
            : nothing
        }
      </div>
    </section>`
  }
}
