import { html, nothing, type TemplateResult } from 'lit'
import { customElement } from 'lit/decorators.js'
import type { Download } from '../../../src/http/contract/downloads.ts'
import type { AnswerOf } from '../api/routes.ts'
import { AppElement } from '../app/app-element.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { bytesText } from '../design/format.ts'
import { iconButton } from '../design/icon-button.ts'
import { msg } from '../design/msg.ts'
import { areaStyles } from '../operations/area-styles.ts'
import { DgPassphraseDialog } from './passphrase-dialog.ts'

const makingMs = 1_000

type Downloads = AnswerOf<'/api/downloads'>

/** Backups and exports that the owner downloads. */
@customElement('dg-downloads')
export class DgDownloads extends AppElement {
  static override readonly styles = areaStyles
  private readonly loaded = new Loaded<Downloads>(this, {
    fetch: (signal) => this.app.http.get('/api/downloads', { signal }),
    againMs: (value) => (value?.downloads.some(isBeingMade) ? makingMs : null),
  })

  private readonly request = (kind: Download['kind'], passphrase?: string): Promise<boolean> =>
    this.app.attempt(async () => {
      const body = passphrase === undefined ? { kind } : { kind, passphrase }
      await this.app.http.post('/api/downloads', { body })
      await this.loaded.reload()
    })

  private readonly backUp = (): void => {
    if (this.loaded.value?.hasPassphrase) return void this.request('backup')
    const onChosen = (passphrase: string) => this.request('backup', passphrase)
    Object.assign(new DgPassphraseDialog(), { onChosen }).openIn(this)
  }

  private readonly discard = ({ id }: Download): void =>
    void this.app.attempt(async () => {
      await this.app.http.del('/api/downloads/{id}', { params: { id } })
      await this.loaded.reload()
    })

  override render() {
    return html`<section class="card" aria-labelledby="downloads">
      <h2 id="downloads">${msg`Download`}</h2>
      <p class="soft">
        ${msg`A backup restores Delegate on another machine. An export holds everything in open formats: the whole history as JSON Lines, and conversations, notes and memories as readable files. It is not encrypted.`}
      </p>
      ${loadedView(this.loaded, msg`the downloads`, ({ downloads }) => this.downloadsView(downloads))}
    </section>`
  }

  private downloadsView(downloads: readonly Download[]): TemplateResult {
    const isMaking = (kind: Download['kind']) =>
      downloads.some((each) => each.kind === kind && isBeingMade(each))
    return html`
      ${
        downloads.length === 0
          ? nothing
          : html`<ul class="list rows" aria-label=${msg`Files`}>
              ${downloads.map((download) => this.rowView(download))}
            </ul>`
      }
      <div class="foot">
        <button class="button small" ?disabled=${isMaking('backup')} @click=${this.backUp}>
          ${msg`Download a backup`}
        </button>
        <button
          class="button small"
          ?disabled=${isMaking('export')}
          @click=${() => void this.request('export')}
        >
          ${msg`Export everything`}
        </button>
      </div>
    `
  }

  private rowView(download: Download): TemplateResult {
    const { id, kind, name, bytes, state, reason } = download
    const what = kind === 'backup' ? msg`Backup` : msg`Export`
    return html`<li>
      <div class="what">
        <p>${what}</p>
        <p class="facts" role="status">
          <span>${state === 'failed' ? reason : stateTexts[state]}</span>
          ${bytes === null ? nothing : html`<span>${bytesText(bytes)}</span>`}
        </p>
      </div>
      ${
        state === 'ready'
          ? html`<a class="button primary small" href="/api/downloads/${id}/file" download=${name}>
              <dg-icon name="download"></dg-icon>${msg`Save the file`}
            </a>`
          : nothing
      }
      ${iconButton('close', msg`Remove: ${what}`, () => this.discard(download), 'quiet small', msg`Remove`)}
    </li>`
  }
}

const isBeingMade = ({ state }: Download): boolean => state === 'making' || state === 'waiting'

const stateTexts = {
  waiting: msg`Waiting until something is erased for good`,
  making: msg`Being made…`,
  ready: msg`Ready for an hour`,
} as const
