import { css, html, type TemplateResult } from 'lit'
import { customElement } from 'lit/decorators.js'
import { guard } from 'lit/directives/guard.js'
import type { AnswerOf } from '../api/routes.ts'
import { AppElement } from '../app/app-element.ts'
import { copyWithToast } from '../app/copy.ts'
import { askToErase } from '../app/erase-dialog.ts'
import { loadedView } from '../app/loaded.ts'
import { type ListPage, moreView, PagedList } from '../app/paged-list.ts'
import { fullTimeText, plural, shortDateText } from '../design/format.ts'
import { labelButton } from '../design/icon-button.ts'
import { createMarkdown } from '../design/markdown.ts'
import { msg } from '../design/msg.ts'
import { prose } from '../design/prose.ts'
import { askToRead } from './ask-to-read.ts'
import { serviceNames, titleText } from './words.ts'

type Answer = AnswerOf<'/api/imported/{id}'>
type Message = Answer['items'][number]
type Page = ListPage<Message> & Pick<Answer, 'title' | 'service' | 'messages' | 'firstAt'>

/** Of an address without an id. */
const noPage: Page = { title: '', service: 'chatgpt', messages: 0, firstAt: '', items: [], nextCursor: null }

/** One conversation with another assistant, message by message. */
@customElement('dg-conversation-page')
export class DgConversationPage extends AppElement {
  static override readonly styles = [
    prose,
    css`
      h2 {
        font-size: var(--text-xl);
      }
      .top {
        margin-bottom: var(--space-5);
      }
      .foot {
        gap: var(--space-2);
        margin-top: var(--space-3);
      }
      .message {
        padding: var(--space-4) 0;
        border-top: 1px solid var(--line);
        overflow-wrap: anywhere;
      }
      .message header {
        display: flex;
        flex-wrap: wrap;
        align-items: baseline;
        gap: var(--space-1) var(--space-3);
        margin-bottom: var(--space-1);
      }
      .speaker {
        font-weight: 600;
      }
      .own {
        white-space: pre-wrap;
      }
    `,
  ]
  private readonly importedId = new URLSearchParams(location.search).get('id') ?? ''
  private readonly markdown = createMarkdown(
    (code) => void copyWithToast(code, msg`Code copied`, this.app.toast),
  )
  private readonly messages = new PagedList<Message, Page>(this, {
    fetch: async ({ signal, cursor }) => {
      if (this.importedId === '') return noPage
      const asked = { params: { id: this.importedId }, query: cursor === undefined ? {} : { cursor }, signal }
      return this.app.http.get('/api/imported/{id}', asked)
    },
    concerns: (type) => type.startsWith('eras'),
  })

  private readonly erase = (): void => {
    askToErase(this, {
      heading: msg`Erase “${titleText(this.messages.value?.title ?? '')}”?`,
      target: { kind: 'imported', id: this.importedId },
      onErasing: () => this.app.navigate('/imported'),
    })
  }

  override render() {
    return html`<dg-page heading=${msg`Imported conversation`}>
      <a class="back" href="/imported"><dg-icon name="chevron"></dg-icon>${msg`Imported conversations`}</a>
      ${loadedView(this.messages, msg`the conversation`, (page) => this.pageView(page))}
    </dg-page>`
  }

  private pageView(page: Page): TemplateResult {
    return page === noPage
      ? html`<dg-state icon="chat" heading=${msg`Choose a conversation`}>
          <a class="button primary" href="/imported">${msg`Imported conversations`}</a>
        </dg-state>`
      : this.conversationView(page)
  }

  private conversationView({ title, service, messages, firstAt, items }: Page): TemplateResult {
    return html`
      <div class="top">
        <h2 dir="auto">${titleText(title)}</h2>
        <p class="facts">
          <span>${serviceNames[service]}</span><span>${plural(messages, msg`message`, msg`messages`)}</span>
          <time datetime=${firstAt}>${shortDateText(firstAt)}</time>
        </p>
        <div class="actions foot">
          ${labelButton('brain', msg`Look for memories`, () => askToRead(this, { ids: [this.importedId] }))}
          ${labelButton('erased', msg`Erase`, this.erase)}
        </div>
      </div>
      ${items.map((message) => this.messageView(message, serviceNames[service]))} ${moreView(this.messages)}
    `
  }

  private messageView({ speaker, at, text }: Message, assistant: string): TemplateResult {
    const isOwn = speaker === 'owner'
    return html`<article class="message">
      <header>
        <span class="speaker">${isOwn ? msg`You` : assistant}</span>
        <time class="tiny" datetime=${at} title=${fullTimeText(at)}>${shortDateText(at)}</time>
      </header>
      ${
        isOwn
          ? html`<div class="own" dir="auto">${text}</div>`
          : html`<div class="prose" dir="auto">${guard([text], () => this.markdown(text))}</div>`
      }
    </article>`
  }
}
