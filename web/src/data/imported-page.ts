import { css, html, nothing, type TemplateResult } from 'lit'
import { customElement } from 'lit/decorators.js'
import type { ImportedConversation } from '../../../src/http/contract/imports.ts'
import { AppElement } from '../app/app-element.ts'
import { askToErase } from '../app/erase-dialog.ts'
import { loadedView } from '../app/loaded.ts'
import { moreView, PagedList, searchField } from '../app/paged-list.ts'
import { Picked, pickStyles } from '../app/picked.ts'
import { plural, shortDateText } from '../design/format.ts'
import { labelButton } from '../design/icon-button.ts'
import { markedText } from '../design/marked.ts'
import type { MenuItem } from '../design/menu.ts'
import { msg } from '../design/msg.ts'
import { askToRead } from './ask-to-read.ts'
import { serviceNames, titleText } from './words.ts'

const pageSize = 50

/** Conversations with other assistants, by date, with a search as you type. */
@customElement('dg-imported-page')
export class DgImportedPage extends AppElement {
  static override readonly styles = [
    pickStyles,
    css`
      .title {
        color: inherit;
        font-weight: 600;
      }
      .snippet {
        margin: 0.125rem 0 var(--space-1);
        color: var(--ink-soft);
      }
    `,
  ]
  private readonly picked = new Picked(this)
  private readonly conversations = new PagedList<ImportedConversation>(this, {
    fetch: async ({ signal, ...query }) => {
      const asked = { query: { limit: pageSize, ...query }, signal }
      const { conversations, nextCursor } = await this.app.http.get('/api/imported', asked)
      return { items: conversations, nextCursor }
    },
    concerns: (type) => type.startsWith('eras'),
  })

  constructor() {
    super()
    // The search links here with its words.
    this.conversations.query = new URLSearchParams(location.search).get('q') ?? ''
  }

  private items({ id, title }: ImportedConversation): MenuItem[] {
    return [
      { label: msg`Look for memories…`, icon: 'brain', run: () => void askToRead(this, { ids: [id] }) },
      {
        label: msg`Erase for good…`,
        icon: 'erased',
        danger: true,
        run: () =>
          askToErase(this, {
            heading: msg`Erase “${titleText(title)}”?`,
            target: { kind: 'imported', id },
            onChange: this.conversations.reload,
          }),
      },
    ]
  }

  override render() {
    const { conversations } = this
    return html`<dg-page heading=${msg`Imported conversations`}>
      <a class="back" href="/data"><dg-icon name="chevron"></dg-icon>${msg`Your data`}</a>
      ${loadedView(conversations, msg`the conversations`, ({ items }) => {
        if (conversations.isEmpty)
          return html`<dg-state icon="chat" heading=${msg`No imported conversations`}>
            <p>${msg`Import an export of ChatGPT or Claude to read and search it here.`}</p>
            <a class="button primary" href="/data">${msg`Import`}</a>
          </dg-state>`
        return html`
          <div class="find">${searchField(conversations, msg`Search imported conversations`)}</div>
          ${
            items.length === 0 && !conversations.loading
              ? html`<dg-state icon="search" heading=${msg`No matching conversations`}></dg-state>`
              : html`<ul class="list cards" aria-label=${msg`Imported conversations`}>
                  ${items.map((each) => this.itemView(each))}
                </ul>`
          }
          ${moreView(conversations)} ${this.pickedView()}
        `
      })}
    </dg-page>`
  }

  private itemView(conversation: ImportedConversation): TemplateResult {
    const { id, title, service, messages, lastAt, marked } = conversation
    const name = titleText(title)
    return html`<li>
      ${this.picked.boxView(id, name)}
      <div class="what">
        <p><a class="title" dir="auto" href="/imported/read?id=${encodeURIComponent(id)}">${name}</a></p>
        ${marked === undefined ? nothing : html`<p class="snippet clamped">${markedText(marked)}</p>`}
        <p class="facts">
          <span>${serviceNames[service]}</span><span>${plural(messages, msg`message`, msg`messages`)}</span>
          <time datetime=${lastAt}>${shortDateText(lastAt)}</time>
        </p>
      </div>
      <dg-menu label=${msg`More for ${name}`} .items=${this.items(conversation)}></dg-menu>
    </li>`
  }

  private pickedView(): TemplateResult | typeof nothing {
    const { ids } = this.picked
    const read = () => askToRead(this, { ids })
    const buttons = labelButton('brain', msg`Look for memories`, read, 'primary small')
    return this.picked.barView(msg`Selected conversations`, ids.length, buttons)
  }
}
