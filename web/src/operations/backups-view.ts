import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement } from 'lit/decorators.js'
import type { Backups } from '../../../src/http/contract/backups.ts'
import { AppElement } from '../app/app-element.ts'
import { askToConfirm } from '../app/confirm-dialog.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { bytesText, countText, plural, relativeText, shortDateText } from '../design/format.ts'
import { msg } from '../design/msg.ts'
import { areaStyles } from './area-styles.ts'

const refreshMs = 60_000
const runningMs = 2_000

/** The backups that the service makes by itself: the last, the next, the last test, and problems. */
@customElement('dg-backups')
export class DgBackups extends AppElement {
  static override readonly styles = [
    areaStyles,
    css`
      dt {
        color: var(--ink-soft);
        font-size: var(--text-sm);
      }
      dd {
        font-weight: 550;
      }
      dd.soft {
        font-weight: 400;
      }
      .problems {
        margin-bottom: var(--space-4);
      }
      details {
        margin-top: var(--space-4);
        font-size: var(--text-sm);
      }
      li {
        overflow-wrap: anywhere;
      }
    `,
  ]
  private readonly loaded = new Loaded<Backups>(this, {
    fetch: () => this.app.http.get('/api/backups'),
    concerns: (type) => type.startsWith('backup.') || type === 'settings.changed',
    againMs: (value) => (value?.running ? runningMs : refreshMs),
  })

  private readonly backUp = (): void =>
    void this.app.attempt(async () => {
      this.loaded.put(await this.app.http.post('/api/backups'))
      this.app.toast(msg`Making a backup.`)
    })

  private readonly forgetMissing = (): void =>
    askToConfirm(this, {
      heading: msg`Forget missing backups?`,
      content: msg`Only do this if you never want them back: the copies elsewhere may be removed, too. A missing backup that turns up in the backup directory is deleted.`,
      action: msg`Forget them`,
      run: async () => this.loaded.put(await this.app.http.del('/api/backups/missing')),
      done: msg`Missing backups forgotten.`,
    })

  override render() {
    return html`<section class="card" aria-labelledby="backups">
      <h2 id="backups">${msg`Backups`}</h2>
      <p class="intro soft">${msg`Encrypted copies of everything, made each day.`}</p>
      ${loadedView(this.loaded, msg`the backups`, (backups) => this.backupsView(backups))}
    </section>`
  }

  private backupsView(backups: Backups): TemplateResult {
    const { state, last, running } = backups
    return html`
      ${problemsView(backups.problems)}
      ${
        last === null && state === 'off'
          ? html`<p class="soft">${msg`No backups yet. Choose a directory and a passphrase in Settings.`}</p>`
          : figuresView(backups)
      }
      <div class="foot">
        ${
          state === 'on'
            ? html`<button class="button small" ?disabled=${running} @click=${this.backUp}>
                ${running ? msg`Backing up…` : msg`Back up now`}
              </button>`
            : nothing
        }
        ${
          backups.backups.some(({ present }) => present === false)
            ? html`<button class="button small" @click=${this.forgetMissing}>${msg`Forget missing backups`}</button>`
            : nothing
        }
        <a href="/settings#backups">${msg`Backup settings`}</a>
      </div>
      ${backups.backups.length > 0 ? filesView(backups.backups) : nothing}
    `
  }
}

function problemsView(problems: readonly string[]): TemplateResult | typeof nothing {
  if (problems.length === 0) return nothing
  return html`<ul class="list problems checks">
    ${problems.map(
      (problem) => html`<li class="warns"><dg-icon name="warning"></dg-icon><div>${problem}</div></li>`,
    )}
  </ul>`
}

function figuresView({ state, last, nextAt, lastTest, lastCopyAt, running }: Backups): TemplateResult {
  const next = running
    ? msg`being made now`
    : nextAt === null
      ? msg`never: backups are off`
      : Date.parse(nextAt) <= Date.now()
        ? msg`in a moment`
        : shortDateText(nextAt)
  return html`<dl>
    ${figure(msg`Last backup`, last ? relativeText(last.createdAt) : msg`None yet`, last ? shortDateText(last.createdAt) : '')}
    ${last ? figure(msg`Size`, bytesText(last.bytes), msg`${countText(last.events)} events`) : nothing}
    ${figure(msg`Next backup`, next, '')}
    ${
      lastTest
        ? figure(msg`Last restore test`, lastTest.ok ? msg`Passed` : msg`Failed`, shortDateText(lastTest.at))
        : figure(msg`Last restore test`, msg`None yet`, state === 'on' ? msg`Follows the first backup` : '')
    }
    ${lastCopyAt ? figure(msg`Copied elsewhere`, relativeText(lastCopyAt), shortDateText(lastCopyAt)) : nothing}
  </dl>`
}

function figure(name: string, value: string, more: string): TemplateResult {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
    ${more === '' ? nothing : html`<dd class="soft">${more}</dd>`}
  </div>`
}

function filesView(backups: Backups['backups']): TemplateResult {
  return html`<details>
    <summary>${plural(backups.length, msg`backup`, msg`backups`)}</summary>
    <ul class="list">
      ${backups.map(
        ({ name, bytes, present }) =>
          html`<li>${name} <span class="soft">${bytesText(bytes)}${present === false ? msg`, missing` : ''}</span></li>`,
      )}
    </ul>
  </details>`
}
