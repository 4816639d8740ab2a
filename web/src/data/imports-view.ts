import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement } from 'lit/decorators.js'
import type { Import } from '../../../src/http/contract/imports.ts'
import type { AnswerOf } from '../api/routes.ts'
import { AppElement } from '../app/app-element.ts'
import { askToErase } from '../app/erase-dialog.ts'
import { Loaded, loadedView } from '../app/loaded.ts'
import { barView } from '../design/bar.ts'
import { fullTimeText, plural, relativeText } from '../design/format.ts'
import type { MenuItem } from '../design/menu.ts'
import { msg } from '../design/msg.ts'
import { areaStyles } from '../operations/area-styles.ts'
import { askToRead } from './ask-to-read.ts'
import { uploadExport } from './upload.ts'
import { foreignText } from './words.ts'

const busyMs = 1_000

type Imports = AnswerOf<'/api/imports'>

/** Imports of conversations with other assistants. */
@customElement('dg-imports')
export class DgImports extends AppElement {
  static override readonly styles = [
    areaStyles,
    css`
      .fill-bar {
        max-width: 20rem;
        margin-top: var(--space-2);
      }
      input[type='file'] {
        position: absolute;
        width: 1px;
        height: 1px;
        opacity: 0;
      }
      .choose:focus-within {
        outline: 2px solid var(--accent);
        outline-offset: 2px;
      }
    `,
  ]
  private readonly loaded = new Loaded<Imports>(this, {
    fetch: (signal) => this.app.http.get('/api/imports', { signal }),
    againMs: (value) => (value?.imports.some(isBusy) ? busyMs : null),
    concerns: (type) => type.startsWith('eras'),
  })

  private readonly chosen = async ({ target }: Event): Promise<void> => {
    if (!(target instanceof HTMLInputElement)) return
    const files = [...(target.files ?? [])]
    target.value = ''
    // One after the other, also while another page is shown.
    for (const file of files)
      await this.app.attempt(() => uploadExport(this.app, file, () => void this.loaded.reload()))
    await this.loaded.reload()
  }

  private readonly cancel = ({ id }: Import): void =>
    void this.app.attempt(async () => {
      await this.app.http.post('/api/imports/{id}/cancel', { params: { id } })
      await this.loaded.reload()
    })

  override render() {
    return html`<section class="card" aria-labelledby="imports">
      <h2 id="imports">${msg`Import from other assistants`}</h2>
      <p class="soft">
        ${msg`The exports of ChatGPT and Claude: the zip as you got it, or its conversations.json. Delegate keeps these conversations apart from your own and learns nothing from them unless you ask. Importing a newer export adds only what is new.`}
      </p>
      ${loadedView(this.loaded, msg`the imports`, (value) => this.importsView(value))}
    </section>`
  }

  private importsView({ imports, conversations }: Imports): TemplateResult {
    return html`
      ${
        imports.length === 0
          ? nothing
          : html`<ul class="list rows" aria-label=${msg`Imports`}>
              ${imports.map((each) => this.rowView(each))}
            </ul>`
      }
      <div class="foot">
        <label class="button small choose">
          ${msg`Choose files`}
          <input type="file" accept=".zip,.json" multiple @change=${this.chosen} />
        </label>
        ${
          conversations > 0
            ? html`<a href="/imported">${plural(conversations, msg`imported conversation`, msg`imported conversations`)}</a>
                <a href="/imported/memories">${msg`Memories from imports`}</a>`
            : nothing
        }
      </div>
    `
  }

  private rowView(each: Import): TemplateResult {
    const { name, state, startedAt, receivedBytes, bytes } = each
    const title = foreignText(name) || msg`Erased file`
    const percent = Math.floor((receivedBytes / bytes) * 100)
    return html`<li>
      <div class="what">
        <p dir="auto">${title}</p>
        <p class="facts">
          ${factsOf(each).map((fact) => html`<span>${fact}</span>`)}
          ${
            startedAt === null
              ? nothing
              : html`<time datetime=${startedAt} title=${fullTimeText(startedAt)}>${relativeText(startedAt)}</time>`
          }
        </p>
        ${state === 'uploading' ? barView(percent, msg`${percent} % of ${title} uploaded`) : nothing}
      </div>
      ${
        isBusy(each)
          ? html`<button class="button small" @click=${() => this.cancel(each)}>${msg`Cancel`}</button>`
          : name === ''
            ? nothing
            : html`<dg-menu label=${msg`More for ${title}`} .items=${this.items(each, title)}></dg-menu>`
      }
    </li>`
  }

  private items({ id, messages }: Import, title: string): MenuItem[] {
    const read: MenuItem = {
      label: msg`Look for memories…`,
      icon: 'brain',
      run: () => void askToRead(this, { importId: id }),
    }
    return [
      ...(messages > 0 ? [read] : []),
      {
        label: msg`Erase for good…`,
        icon: 'erased',
        danger: true,
        run: () =>
          askToErase(this, {
            heading: messages > 0 ? msg`Erase everything that “${title}” added?` : msg`Erase “${title}”?`,
            target: { kind: 'import', id },
            onChange: this.loaded.reload,
          }),
      },
    ]
  }
}

const isBusy = ({ state }: Import): boolean => state === 'uploading' || state === 'running'

const reasons: Readonly<Record<NonNullable<Import['reason']>, string>> = {
  unreadable: msg`Not an export, or damaged`,
  too_large: msg`Too large to be read`,
  nothing_found: msg`No conversations in it. If it is a list of links, import the files that these lead to`,
  file_missing: msg`The uploaded file is missing. Import it again`,
}

function factsOf({
  state,
  reason,
  conversations,
  messages,
  known,
  skipped,
  receivedBytes,
  bytes,
}: Import): string[] {
  const added = msg`${plural(conversations, msg`conversation`, msg`conversations`)} with ${plural(messages, msg`message`, msg`messages`)}`
  switch (state) {
    case 'uploading':
      return [msg`Uploading, ${Math.floor((receivedBytes / bytes) * 100)} %`]
    case 'running':
      return [msg`Importing: ${added} so far`]
    case 'failed':
      return [reasons[reason ?? 'unreadable'], ...(messages > 0 ? [msg`${added} before that`] : [])]
    case 'cancelled':
      return [msg`Cancelled`, ...(messages > 0 ? [msg`${added} before that`] : [])]
    default:
      return [
        messages === 0 ? msg`Nothing new` : msg`Imported ${added}`,
        ...(known > 0 ? [msg`${plural(known, msg`message`, msg`messages`)} had been imported before`] : []),
        ...(skipped > 0 ? [msg`${plural(skipped, msg`entry`, msg`entries`)} skipped`] : []),
      ]
  }
}
